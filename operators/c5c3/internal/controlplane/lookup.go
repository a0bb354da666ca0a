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
// none, or more than one, it returns a [reconcile.Stop].
func Only(ctx context.Context, reader client.Reader, of client.Object) (*c5c3v1alpha1.ControlPlane, error) {
	namespace := of.GetNamespace()
	var all c5c3v1alpha1.ControlPlaneList
	if err := reader.List(ctx, &all, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing the ControlPlanes of namespace %s: %w", namespace, err)
	}
	switch len(all.Items) {
	case 0:
		return nil, reconcile.WaitError(c5c3v1alpha1.ReasonNoControlPlane, fmt.Sprintf(
			"There is no ControlPlane in namespace %s: create one, or move %s to its namespace", namespace, of.GetName()))
	case 1:
		cp := &all.Items[0]
		c5c3v1alpha1.SetDefaults(cp)
		return cp, nil
	}
	names := make([]string, 0, len(all.Items))
	for i := range all.Items {
		names = append(names, all.Items[i].Name)
	}
	slices.Sort(names)
	return nil, reconcile.TerminalError(c5c3v1alpha1.ReasonAmbiguousControlPlane, fmt.Errorf(
		"namespace %s has the ControlPlanes %s: delete all but one", namespace, strings.Join(names, ", ")))
}
