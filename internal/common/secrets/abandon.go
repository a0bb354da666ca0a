package secrets

import (
	"context"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/apply"
)

// Abandon ends the work of External Secrets on a PushSecret and leaves the copy in the
// store. It takes away External Secrets' finalizer, too: earlier versions of External Secrets
// do not remove it once the policy no longer asks for a removal of the copy.
func Abandon(ctx context.Context, c client.Writer, push *esov1alpha1.PushSecret) error {
	left := push.DeepCopy()
	left.Spec.DeletionPolicy = esov1alpha1.PushSecretDeletionPolicyNone
	controllerutil.RemoveFinalizer(left, PushSecretFinalizer)
	return client.IgnoreNotFound(apply.Merge(ctx, c, push, left, "leaving the copy of"))
}

// AbandonInNamespace abandons a PushSecret that is being deleted together with its
// namespace, and reports whether it did. A store that logs in with an account of the
// namespace gets no token for it any more, so External Secrets can never remove the copy, and
// its finalizer would hold the namespace for ever. It gets the chance until it reports a
// failure, or until overdue. The path of the copy is logged: no event can be created.
func AbandonInNamespace(ctx context.Context, c client.Writer, push *esov1alpha1.PushSecret, overdue bool) (bool, error) {
	switch {
	case push.DeletionTimestamp.IsZero(), !Adopted(push), !overdue && !PushStateOf(push).Failed():
		return false, nil
	case !apply.NamespaceGoes(ctx, c, push.Namespace):
		return false, nil
	}
	paths := make([]string, 0, len(push.Spec.Data))
	for _, data := range push.Spec.Data {
		paths = append(paths, data.GetRemoteKey())
	}
	log.FromContext(ctx).Info(
		"The namespace is being deleted and External Secrets cannot remove a copy from the secret store; delete it by hand",
		"pushSecret", push.Name, "paths", paths)
	return true, Abandon(ctx, c, push)
}
