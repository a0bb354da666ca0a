package teardown

import (
	"context"
	"errors"
	"slices"
	"strings"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// korcFinalizers is the prefix of all finalizers of K-ORC.
const korcFinalizers = orcv1alpha1.GroupName + "/"

// removeKORCFinalizers removes K-ORC's finalizers from the objects and from the Secrets
// that they use, because K-ORC will not.
func removeKORCFinalizers(ctx context.Context, s *pass.Pass, left []korc.Object) error {
	for _, obj := range left {
		if err := stripFinalizers(ctx, s, obj); err != nil {
			return err
		}
	}
	for _, name := range []string{s.CP.PasswordCloudSecretName(), s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName} {
		secret, err := apply.Find(ctx, s.Refs, pass.Key(s, name), &corev1.Secret{})
		if err != nil {
			return err
		}
		if secret == nil {
			continue
		}
		if controller := metav1.GetControllerOf(secret); controller == nil || controller.UID != s.CP.UID && controller.Name != name {
			continue
		}
		if err := stripFinalizers(ctx, s, secret); err != nil {
			return err
		}
	}
	logins, err := userSecrets(ctx, s)
	for i := range logins {
		err = errors.Join(err, stripFinalizers(ctx, s, &logins[i]))
	}
	return err
}

// stripFinalizers removes K-ORC's finalizers. K-ORC may do so concurrently: if the pass
// failed on that conflict, the next one could not report what was orphaned, so it retries
// without waiting for the cache.
func stripFinalizers(ctx context.Context, s *pass.Pass, obj client.Object) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		err := patchFinalizers(ctx, s, obj)
		if !apierrors.IsConflict(err) {
			return err
		}
		if readErr := s.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), obj); readErr != nil {
			return client.IgnoreNotFound(readErr)
		}
		return err
	})
}

func patchFinalizers(ctx context.Context, s *pass.Pass, obj client.Object) error {
	before := apply.Copy(obj)
	obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(name string) bool { return strings.HasPrefix(name, korcFinalizers) }))
	if len(obj.GetFinalizers()) == len(before.GetFinalizers()) {
		return nil
	}
	return client.IgnoreNotFound(apply.Merge(ctx, s.ThirdParty, before, obj, "removing K-ORC's finalizers from"))
}
