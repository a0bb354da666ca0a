package korc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Objects returns all objects of the watched kinds in the namespace of the control plane,
// whoever they belong to.
func Objects(ctx context.Context, s *pass.Pass) ([]Object, error) {
	var all []Object
	for _, list := range []client.ObjectList{
		&orcv1alpha1.ApplicationCredentialList{}, &orcv1alpha1.DomainList{}, &orcv1alpha1.UserList{}, &orcv1alpha1.ServiceList{},
		&orcv1alpha1.EndpointList{}, &orcv1alpha1.ProjectList{}, &orcv1alpha1.RoleList{},
	} {
		if err := s.ThirdParty.List(ctx, list, client.InNamespace(s.CP.Namespace)); err != nil {
			return nil, fmt.Errorf("listing the objects of K-ORC: %w", err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if obj, ok := item.(Object); ok {
				all = append(all, obj)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading a list of %T: %w", list, err)
		}
	}
	return all, nil
}

// Watches reports whether the operator watches a kind of K-ORC, in any case.
func Watches(kind string) bool {
	return slices.ContainsFunc(kinds, func(watched string) bool { return strings.EqualFold(watched, kind) })
}
