package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	// secretOptionsKey is the default key of spec.extraConfigSecretRef.
	secretOptionsKey = "keystone.conf"
	// secretOptionsFile is beside keystone.conf. oslo.config reads the files of a
	// directory in the order of their names, and the last one wins
	// (oslo_config.cfg, _ConfigDirOpt).
	secretOptionsFile = "secret.conf"
	// minSecretValue tells what may be secret among the options from numbers and
	// switches, without which an error would say nothing.
	minSecretValue = 6
)

// secretOptions are the options of the Secret of spec.extraConfigSecretRef; the zero
// value is none.
type secretOptions struct {
	options config.INI
	// copied is the immutable Secret that pods get them from.
	copied *corev1.Secret
}

// readSecretOptions reads and checks the options, or says why there are none yet.
func (s *scope) readSecretOptions(ctx context.Context) (secretOptions, *reconcile.Outcome) {
	ref := s.keystone.Spec.ExtraConfigSecretRef
	if ref == nil {
		return secretOptions{}, nil
	}
	required := service.Requirement{
		Name: ref.Name, Keys: []string{ref.KeyOr(secretOptionsKey)},
		Field: "spec.extraConfigSecretRef", Reason: keystonev1alpha1.ReasonWaitingForExtraConfig,
	}
	found, outcome := service.Require(ctx, s.Pass, required)
	if !outcome.IsDone() {
		return secretOptions{}, &outcome
	}
	secret := found[0]
	read, err := newSecretOptions(s.keystone, secret)
	if err != nil {
		return secretOptions{}, ptr.To(reconcile.Terminal(keystonev1alpha1.ReasonConfigError, fmt.Errorf(
			"key %s of Secret %s, which spec.extraConfigSecretRef names, cannot be used: %w", required.Keys[0], ref.Name, err)))
	}
	return read, nil
}

// newSecretOptions parses and checks the options of the Secret. Pods get them from
// a copy, which no change of the Secret reaches before the image has read it, and
// which is written anew, so that oslo.config reads what was checked here and nothing
// else. The errors hold nothing of the Secret but the names of known options.
func newSecretOptions(k *keystonev1alpha1.Keystone, secret *corev1.Secret) (secretOptions, error) {
	parsed, err := config.ParseINI(string(secret.Data[k.Spec.ExtraConfigSecretRef.KeyOr(secretOptionsKey)]))
	if err != nil {
		return secretOptions{}, err
	}
	options := parsed.Merge()
	if len(options) < len(parsed) {
		return secretOptions{}, errors.New("it has one section in upper and lower case: keep one of them")
	}
	if err := keystonev1alpha1.CheckSecretOptions(options); err != nil {
		return secretOptions{}, err
	}
	content, err := options.Render()
	if err != nil {
		return secretOptions{}, errors.New("the name of a section or an option in it is not valid")
	}
	return secretOptions{options: options, copied: secretOptionsCopy(k, secret, content)}, nil
}

// secretOptionsCopy is named after its content, as the ConfigMap is that it stands
// beside. The hash is keyed with the UID of the user's Secret, which only those know who
// may look at it.
func secretOptionsCopy(k *keystonev1alpha1.Keystone, of *corev1.Secret, content string) *corev1.Secret {
	copied := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Labels: commonLabels(k)},
		Immutable:  ptr.To(true),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{secretOptionsFile: []byte(content)},
	}
	copied.Name = secretOptionsName(k) + "-" + secrets.ContentHash(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{UID: of.UID}, Data: copied.Data,
	})
	copied.Labels[config.BaseLabel] = config.BaseLabelValue(secretOptionsName(k))
	return copied
}

// name is the name of the copy, "" for none.
func (o secretOptions) name() string {
	if o.copied == nil {
		return ""
	}
	return o.copied.Name
}

// keepSecretOptions keeps the copy for the pods.
func (s *scope) keepSecretOptions(ctx context.Context, secret secretOptions) error {
	if secret.copied == nil {
		return nil
	}
	return s.Owned.EnsureData(ctx, s.keystone, secret.copied)
}

// hideOptions keeps the values out of what is quoted of tools.
func (s *scope) hideOptions(secret secretOptions) {
	for _, section := range secret.options {
		for _, value := range section {
			if len(value) >= minSecretValue {
				s.Hide(value)
			}
		}
	}
}

// pruneSecretOptions removes the copies that no pod needs. The last but one stays for
// a pod of a CronJob that is only about to start.
func (s *scope) pruneSecretOptions(ctx context.Context) error {
	current, retain := service.Config.Value(s.Slots).Secret, 0
	if current != "" {
		retain = 1
	}
	return config.PruneImmutableSecrets(ctx, s.Client, s.keystone,
		secretOptionsName(s.keystone), s.keystone.Namespace, current, retain)
}
