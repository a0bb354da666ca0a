package appcredential

import (
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/externalsecret"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
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
	return &esov1alpha1.PushSecret{
		ObjectMeta: meta,
		Spec: esov1alpha1.PushSecretSpec{
			DeletionPolicy:  esov1alpha1.PushSecretDeletionPolicyDelete,
			RefreshInterval: &metav1.Duration{Duration: pushInterval},
			SecretStoreRefs: []esov1alpha1.PushSecretStoreRef{{Name: secrets.StoreName, Kind: esov1.ClusterSecretStoreKind}},
			Selector:        esov1alpha1.PushSecretSelector{Secret: &esov1alpha1.PushSecretSecret{Name: source.Name}},
			Data: []esov1alpha1.PushSecretData{{
				Match: esov1alpha1.PushSecretMatch{
					RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: controlplane.CredentialPath(c, cp)},
				},
				ConversionStrategy: esov1alpha1.PushSecretConversionNone,
			}},
		},
	}
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

// deliveredClouds returns the clouds.yaml that the users have, nil for none.
func (m *manager) deliveredClouds(ctx context.Context) ([]byte, error) {
	name := m.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	secret, err := apply.Find(ctx, m.Refs, pass.Key(m.Pass, name), &corev1.Secret{})
	if secret == nil || err != nil {
		return nil, err
	}
	return secret.Data[clouds.Key], nil
}

// transit is where on its way to its users the clouds.yaml is.
type transit struct {
	reason, message string
	// fetched reports that External Secrets has delivered what it found in the store.
	fetched bool
}

func (m *manager) whereInTransit(ctx context.Context) (transit, error) {
	broken, err := secrets.BrokenStore(ctx, m.Kinds, m.ThirdParty)
	if err != nil {
		return transit{}, err
	}
	push := secrets.PushStateOf(m.push)
	switch {
	case broken != "":
		return transit{reason: c5c3v1alpha1.ReasonSecretStoreNotReady, message: fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so the clouds.yaml cannot reach Secret %s; repair the store or the backend behind it",
			broken, m.delivery.Name)}, nil
	case !push.Synced:
		return transit{reason: c5c3v1alpha1.ReasonWaitingForPushSecret, message: detailed(fmt.Sprintf(
			"PushSecret %s has not stored the clouds.yaml at %s yet; if this persists, repair the store; a path that something else wrote needs "+
				"the custom metadata managed-by=external-secrets", m.push.Name, controlplane.CredentialPath(m.Cluster, m.CP)), push.Message)}, nil
	}
	for _, condition := range m.delivery.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue {
			return transit{reason: c5c3v1alpha1.ReasonWaitingForCloudsYaml, message: detailed(
				fmt.Sprintf("ExternalSecret %s has not delivered its Secret", m.delivery.Name), condition.Message)}, nil
		}
	}
	return transit{
		fetched: true, reason: c5c3v1alpha1.ReasonWaitingForCloudsYamlSync,
		message: fmt.Sprintf("Secret %s does not hold the current clouds.yaml yet", m.delivery.Name),
	}, nil
}

func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}

// PushSecretKind is the kind that copies the credential into the secret store.
var PushSecretKind = esov1alpha1.SchemeGroupVersion.WithKind(esov1alpha1.PushSecretKind)

// storeCredential writes the Secret of the application credential that the pass has read.
// It fails if the Secret has changed or was deleted in the meantime: that may be the
// request for another credential.
func (m *manager) storeCredential(ctx context.Context, data map[string][]byte) error {
	changed := m.credential.DeepCopy()
	changed.Data = data
	if equality.Semantic.DeepEqual(m.credential.Data, data) {
		return nil
	}
	if err := apply.Update(ctx, m.Client, changed, apply.Updating); err != nil {
		return err
	}
	m.credential = changed
	return nil
}

// pushCredential pushes the credential's Secret to the secret store.
func (m *manager) pushCredential(ctx context.Context) error {
	m.push = credentialPush(m.Cluster, m.CP, m.credential)
	if m.delivery == nil {
		m.delivery = cloudsDelivery(m.Cluster, m.CP, m.push)
	}
	return secrets.EnsurePushSecret(ctx, m.ThirdParty, m.Scheme, m.CP, m.push, pass.FieldManager)
}

// deliverClouds delivers what was pushed to the store to the users of the credential.
// Before the first push there is nothing that External Secrets could fetch.
func (m *manager) deliverClouds(ctx context.Context) error {
	m.delivery = cloudsDelivery(m.Cluster, m.CP, m.push)
	if m.push.Status.SyncedResourceVersion == "" {
		return nil
	}
	return externalsecret.Ensure(ctx, m.Pass, m.delivery)
}
