package appcredential

import (
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/externalsecret"
)

const (
	// annotationPushHash changes with the pushed content: External Secrets does not watch
	// the Secret itself.
	annotationPushHash = "c5c3.io/push-content-hash"
	// annotationForceSync makes External Secrets fetch immediately when it changes.
	annotationForceSync = "external-secrets.io/force-sync"
	// annotationPushedFor makes External Secrets push again, once for each version of the
	// users' Secret that does not hold the credential.
	annotationPushedFor = "c5c3.io/pushed-again-for"
	// pushInterval is the interval after which a store that lost the credential gets it
	// again.
	pushInterval = time.Hour
)

// credentialPush copies the whole Secret of the application credential. The copy is
// deleted with the control plane: a revoked credential would block the next one of that
// name.
func credentialPush(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane, source *corev1.Secret) *esov1alpha1.PushSecret {
	meta := controlplane.ChildMeta(cp, cp.CredentialPushName())
	meta.Annotations = map[string]string{annotationPushHash: secrets.ContentHash(source)}
	return secrets.NewPush(meta, source.Name, esov1alpha1.PushSecretDeletionPolicyDelete, pushInterval,
		esov1alpha1.PushSecretMatch{RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: controlplane.CredentialPath(c, cp)}})
}

// cloudsDelivery delivers the clouds.yaml to its users, again after every push.
func cloudsDelivery(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane, push *esov1alpha1.PushSecret) *esov1.ExternalSecret {
	es := externalsecret.New(cp, externalsecret.Delivery{
		Name: cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName, Path: controlplane.CredentialPath(c, cp),
		Properties: []string{clouds.Key},
	})
	es.Annotations = map[string]string{annotationForceSync: push.Status.SyncedResourceVersion}
	return es
}
