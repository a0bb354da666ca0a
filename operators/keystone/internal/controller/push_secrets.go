package controller

import (
	"context"
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var pushSecretGVK = esov1alpha1.SchemeGroupVersion.WithKind(esov1alpha1.PushSecretKind)

// keyBackup is the copy of one key Secret in the secret store.
type keyBackup struct {
	// source is the name of the key Secret.
	source func(*keystonev1alpha1.Keystone) string
	// entry is the last element of the path in the store.
	entry string
}

var (
	fernetBackup     = keyBackup{source: fernetKeysName, entry: "fernet-keys"}
	credentialBackup = keyBackup{source: credentialKeysName, entry: "credential-keys"}

	keyBackups = []keyBackup{fernetBackup, credentialBackup}
)

func (b keyBackup) name(k *keystonev1alpha1.Keystone) string { return b.source(k) + "-backup" }

// path returns the path of the copy, relative to the mount of the store.
func (b keyBackup) path(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keysPath(c, k) + "/" + b.entry
}

// keysPath returns the common prefix of the paths of all copies.
func keysPath(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.StorePath(c, k.Namespace, k.Name)
}

// push copies the whole Secret. External Secrets removes the copy with the PushSecret,
// unless the database that only these keys can read is kept. It pushes only when the
// PushSecret changes, and therefore only keys that were validated; [secrets.RepeatPush]
// changes it periodically.
func (b keyBackup) push(c cluster.Settings, k *keystonev1alpha1.Keystone, source *corev1.Secret) *esov1alpha1.PushSecret {
	policy := esov1alpha1.PushSecretDeletionPolicyDelete
	if k.ServiceSpec().KeepsData() {
		policy = esov1alpha1.PushSecretDeletionPolicyNone
	}
	return pushSecret(k, b.name(k), source, esov1alpha1.PushSecretSpec{
		DeletionPolicy:  policy,
		RefreshInterval: &metav1.Duration{},
		Data:            pushTo(esov1alpha1.PushSecretMatch{RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: b.path(c, k)}}),
	})
}

// pushTo returns the list with a single push. It sets the default explicitly because the
// list is applied as a whole.
func pushTo(match esov1alpha1.PushSecretMatch) []esov1alpha1.PushSecretData {
	return []esov1alpha1.PushSecretData{{Match: match, ConversionStrategy: esov1alpha1.PushSecretConversionNone}}
}

// pushSecret completes spec to a PushSecret from source to the store. External Secrets
// does not watch the source: the hash in the annotations makes it push a change
// immediately.
func pushSecret(
	k *keystonev1alpha1.Keystone, name string, source *corev1.Secret, spec esov1alpha1.PushSecretSpec,
) *esov1alpha1.PushSecret {
	spec.SecretStoreRefs = []esov1alpha1.PushSecretStoreRef{{Name: secrets.StoreName, Kind: esov1.ClusterSecretStoreKind}}
	spec.Selector = esov1alpha1.PushSecretSelector{Secret: &esov1alpha1.PushSecretSecret{Name: source.Name}}
	return &esov1alpha1.PushSecret{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: k.Namespace, Labels: definition.Labels(k.Name),
			Annotations: map[string]string{secrets.ContentHashAnnotation: secrets.ContentHash(source)},
		},
		Spec: spec,
	}
}

// findPush returns the named PushSecret, nil if there is none or the Keystone does not
// control it.
func findPush(ctx context.Context, s *scope, name string) (*esov1alpha1.PushSecret, error) {
	live := &esov1alpha1.PushSecret{}
	err := s.ThirdParty.Get(ctx, s.Key(name), live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading PushSecret %s: %w", name, err)
	}
	if !metav1.IsControlledBy(live, s.keystone) {
		return nil, nil
	}
	return live, nil
}
