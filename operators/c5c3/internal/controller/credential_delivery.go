package controller

import (
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

const (
	// annotationPushHash changes with what is pushed: External Secrets does not
	// watch the Secret itself.
	annotationPushHash = "c5c3.io/push-content-hash"
	// annotationForceSync makes External Secrets fetch at once when it changes.
	annotationForceSync = "external-secrets.io/force-sync"
	// annotationPushedFor has External Secrets push once more for each state of
	// the users' Secret that is not the credential's.
	annotationPushedFor = "c5c3.io/pushed-again-for"
	// pushInterval is how often a store that lost the credential gets it again.
	pushInterval = time.Hour
)

// credentialPush copies the whole Secret of the application credential. The copy
// goes with the control plane: a dead credential would be in the way of the next
// one of that name.
func credentialPush(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane, source *corev1.Secret) *esov1alpha1.PushSecret {
	meta := controlplane.ChildMeta(cp, cp.CredentialPushName())
	meta.Annotations = map[string]string{annotationPushHash: secrets.ContentHash(source)}
	return &esov1alpha1.PushSecret{
		ObjectMeta: meta,
		Spec: esov1alpha1.PushSecretSpec{
			DeletionPolicy:  esov1alpha1.PushSecretDeletionPolicyDelete,
			RefreshInterval: &metav1.Duration{Duration: pushInterval},
			SecretStoreRefs: []esov1alpha1.PushSecretStoreRef{{Name: secrets.StoreName, Kind: esov1.ClusterSecretStoreKind}},
			Selector:        esov1alpha1.PushSecretSelector{Secret: &esov1alpha1.PushSecretSecret{Name: source.Name}},
			Data: []esov1alpha1.PushSecretData{{
				Match:              esov1alpha1.PushSecretMatch{RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: credentialPath(c, cp)}},
				ConversionStrategy: esov1alpha1.PushSecretConversionNone,
			}},
		},
	}
}

// cloudsDelivery brings the clouds.yaml to its users, anew whenever it has been
// pushed.
func cloudsDelivery(
	c cluster.Settings, cp *c5c3v1alpha1.ControlPlane, source *corev1.Secret, push *esov1alpha1.PushSecret,
) *esov1.ExternalSecret {
	es := externalSecret(cp, delivery{
		name: cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName, path: credentialPath(c, cp), properties: []string{clouds.Key},
	})
	es.Annotations = map[string]string{
		annotationForceSync: secrets.KeyedHash(source.UID, string(source.Data[clouds.Key])) + "/" + push.Status.SyncedResourceVersion,
	}
	return es
}
