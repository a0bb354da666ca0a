package services

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Parts declares the resources that belong to the resource of a service, such as its stores.
// The service's operator accepts them, and delays the deletion of those that are in use.
type Parts struct {
	// Kind is their kind, and Empty returns an empty one.
	Kind  schema.GroupVersionKind
	Empty func() part
	list  func() client.ObjectList
	// wanted builds those of a control plane with the service.
	wanted func(*c5c3v1alpha1.ControlPlane) []part
}

// part is a resource that belongs to that of a service, with the status reported by the
// service's operator.
type part interface {
	client.Object
	GetConditions() []metav1.Condition
}

// applyParts applies the parts in the spec, and deletes the others that the control plane has
// made.
func (svc Service) applyParts(ctx context.Context, s *pass.Pass) error {
	if svc.Parts == nil {
		return nil
	}
	wanted := svc.Parts.wanted(s.CP)
	for _, one := range wanted {
		if err := apply.EnsureObject[client.Object](ctx, s.ThirdParty, s.Scheme, s.CP, one, pass.FieldManager); err != nil {
			return err
		}
	}
	return svc.deleteParts(ctx, s, func(name string) bool {
		return slices.ContainsFunc(wanted, func(one part) bool { return one.GetName() == name })
	})
}

// deleteParts deletes the parts that the control plane has made, but for those to keep.
func (svc Service) deleteParts(ctx context.Context, s *pass.Pass, keep func(name string) bool) error {
	all, err := svc.parts(ctx, s)
	if err != nil {
		return err
	}
	for _, one := range all {
		if keep(one.GetName()) || !one.GetDeletionTimestamp().IsZero() {
			continue
		}
		if err := apply.Delete(ctx, s.ThirdParty, one); err != nil {
			return err
		}
	}
	return nil
}

// parts returns the parts that the control plane has made, in the order of their names.
func (svc Service) parts(ctx context.Context, s *pass.Pass) ([]part, error) {
	if svc.Parts == nil || !s.Kinds.Served(svc.Parts.Kind) {
		return nil, nil
	}
	all, err := apply.List[part](ctx, s.ThirdParty, svc.Parts.list(), client.InNamespace(s.NamespacedName.Namespace))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", svc.Parts.Kind.Kind, err)
	}
	all = slices.DeleteFunc(all, func(one part) bool { return !metav1.IsControlledBy(one, s.CP) })
	slices.SortFunc(all, func(a, b part) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, nil
}

// awaited returns what the service waits for although its resource is ready, "" if nothing: a
// part that is not ready, or one that is removed and still there.
func (svc Service) awaited(ctx context.Context, s *pass.Pass) (string, error) {
	all, err := svc.parts(ctx, s)
	if err != nil {
		return "", err
	}
	for _, one := range all {
		what := fmt.Sprintf("%s %s is not ready", svc.Parts.Kind.Kind, one.GetName())
		ready := meta.FindStatusCondition(one.GetConditions(), vocabulary.ConditionReady)
		current := ready != nil && ready.ObservedGeneration == one.GetGeneration()
		switch {
		case !one.GetDeletionTimestamp().IsZero():
			what = fmt.Sprintf("%s %s is being deleted", svc.Parts.Kind.Kind, one.GetName())
		case current && ready.Status == metav1.ConditionTrue:
			continue
		}
		if current && ready.Message != "" {
			what += ": " + ready.Message
		}
		return what, nil
	}
	return "", nil
}
