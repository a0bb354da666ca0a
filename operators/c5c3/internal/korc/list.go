package korc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Objects returns all objects of the watched kinds in the namespace of the control plane,
// whoever they belong to.
func Objects(ctx context.Context, s *pass.Pass) ([]Object, error) {
	all, err := read[Object](ctx, s, []client.ObjectList{
		&orcv1alpha1.ApplicationCredentialList{}, &orcv1alpha1.DomainList{}, &orcv1alpha1.UserList{}, &orcv1alpha1.ServiceList{},
		&orcv1alpha1.EndpointList{}, &orcv1alpha1.ProjectList{}, &orcv1alpha1.RoleList{},
	})
	if err != nil {
		return nil, fmt.Errorf("listing the objects of K-ORC: %w", err)
	}
	return all, nil
}

// Own returns the objects of some kinds that the control plane has created with a label. Each
// list is an empty one of a kind.
func Own[T Object](ctx context.Context, s *pass.Pass, having client.ListOption, lists ...client.ObjectList) ([]T, error) {
	all, err := read[T](ctx, s, lists, having)
	return slices.DeleteFunc(all, func(obj T) bool { return !metav1.IsControlledBy(obj, s.CP) }), err
}

func read[T Object](ctx context.Context, s *pass.Pass, lists []client.ObjectList, options ...client.ListOption) ([]T, error) {
	var all []T
	for _, list := range lists {
		items, err := apply.List[T](ctx, s.ThirdParty, list, append(options, client.InNamespace(s.CP.Namespace))...)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}

// Watches reports whether the operator watches a kind of K-ORC, in any case.
func Watches(kind string) bool {
	return slices.ContainsFunc(kinds, func(watched string) bool { return strings.EqualFold(watched, kind) })
}
