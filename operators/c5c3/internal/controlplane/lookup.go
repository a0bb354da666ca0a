package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Only returns the ControlPlane of the object's namespace, with its defaults. If there is
// none, or more than one, it returns nil and an outcome that says so. If the list fails,
// the outcome has the given reason.
func Only(
	ctx context.Context, reader client.Reader, of client.Object, listError string,
) (*c5c3v1alpha1.ControlPlane, reconcile.Outcome) {
	namespace := of.GetNamespace()
	var all c5c3v1alpha1.ControlPlaneList
	if err := reader.List(ctx, &all, client.InNamespace(namespace)); err != nil {
		return nil, reconcile.Failed(listError, fmt.Errorf("listing the ControlPlanes of namespace %s: %w", namespace, err))
	}
	switch len(all.Items) {
	case 0:
		return nil, reconcile.Waiting(c5c3v1alpha1.ReasonNoControlPlane, fmt.Sprintf(
			"There is no ControlPlane in namespace %s: create one, or move %s to its namespace", namespace, of.GetName()))
	case 1:
		cp := &all.Items[0]
		c5c3v1alpha1.SetDefaults(cp)
		return cp, reconcile.Outcome{}
	}
	names := make([]string, 0, len(all.Items))
	for i := range all.Items {
		names = append(names, all.Items[i].Name)
	}
	slices.Sort(names)
	return nil, reconcile.Terminal(c5c3v1alpha1.ReasonAmbiguousControlPlane, fmt.Errorf(
		"namespace %s has the ControlPlanes %s: delete all but one", namespace, strings.Join(names, ", ")))
}
