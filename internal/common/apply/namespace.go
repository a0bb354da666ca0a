package apply

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NamespaceGoes reports whether the API server refuses to create anything in a namespace
// because that is being deleted. The operators may not read namespaces, so it sends a
// creation that is only tried. Any other answer counts as no.
func NamespaceGoes(ctx context.Context, c client.Writer, namespace string) bool {
	tried := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "forge-tried-", Namespace: namespace}}
	err := c.Create(ctx, tried, client.DryRunAll, client.DisableReadYourWritesConsistency)
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
