package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// refuseDuplicates refuses every ControlPlane of a namespace except the oldest. The
// webhook allows only one, but it may have been disabled.
func refuseDuplicates(ctx context.Context, tools *pass.Tools, cp *c5c3v1alpha1.ControlPlane) (reconcile.Refusal, error) {
	var all c5c3v1alpha1.ControlPlaneList
	if err := tools.Client.List(ctx, &all, client.InNamespace(cp.Namespace)); err != nil {
		return reconcile.Refusal{}, fmt.Errorf("listing the ControlPlanes of namespace %s: %w", cp.Namespace, err)
	}
	first := oldest(all.Items)
	if first == "" || first == cp.Name {
		return reconcile.Refusal{}, nil
	}
	return reconcile.Refusal{Reason: c5c3v1alpha1.ReasonDuplicateControlPlane, Message: fmt.Sprintf(
		"ControlPlane %s is older, and only one is reconciled in namespace %s; delete one of the two", first, cp.Namespace)}, nil
}

// oldest returns the name of the one created first; those created in the same second are
// ordered by name.
func oldest(all []c5c3v1alpha1.ControlPlane) string {
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b c5c3v1alpha1.ControlPlane) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	}).Name
}
