package testutil

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/children"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Definition is Keystone among the services.
var Definition = service.Definition{Kind: keystonev1alpha1.Kind, CodeName: keystonev1alpha1.AppName}

// Child is an object that a Keystone controls or used to control, or that outlives it.
type Child = children.Child

// Children returns the children of Keystones in the namespace; see [children.Find].
func Children(ctx context.Context, c client.Client, namespace string) ([]Child, error) {
	return children.Find(ctx, c, &Definition, namespace)
}

// Names returns the children as strings.
func Names(found []Child) []string { return children.Names(found) }
