package services

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	// optional parts have a step with a condition of their own. The service is ready without them.
	optional bool
}

// part is a resource that belongs to that of a service, with the status reported by the
// service's operator.
type part interface {
	client.Object
	GetConditions() []metav1.Condition
}

// needsParts reports whether the service is ready only with its parts.
func (svc Service) needsParts() bool { return svc.Parts != nil && !svc.Parts.optional }

// applyParts applies the parts in the spec, and deletes the others that the control plane has
// made. One that fails does not keep it from the others. It returns what they wait for, "" if
// nothing.
func (svc Service) applyParts(ctx context.Context, s *pass.Pass) (waits string, err error) {
	wanted, errs := svc.Parts.wanted(s.CP), []error(nil)
	for _, one := range wanted {
		errs = append(errs, apply.EnsureObject[client.Object](ctx, s.ThirdParty, s.Scheme, s.CP, one, pass.FieldManager))
	}
	removed, err := svc.deleteParts(ctx, s, wanted)
	return svc.awaited(wanted, removed), errors.Join(append(errs, err)...)
}

// deleteParts deletes the parts that the control plane has made, but for those to keep. It
// returns the ones that are still there.
func (svc Service) deleteParts(ctx context.Context, s *pass.Pass, keep []part) ([]part, error) {
	all, err := svc.parts(ctx, s)
	if err != nil {
		return nil, err
	}
	removed := slices.DeleteFunc(all, func(one part) bool {
		return slices.ContainsFunc(keep, func(other part) bool { return other.GetName() == one.GetName() })
	})
	for _, one := range removed {
		if !one.GetDeletionTimestamp().IsZero() {
			continue
		}
		if err := apply.Delete(ctx, s.ThirdParty, one); err != nil {
			return nil, err
		}
	}
	return removed, nil
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

// awaited returns what the service waits for although its resource is ready, "" if nothing:
// parts that are not ready, and those that are removed and still there.
func (svc Service) awaited(wanted, removed []part) string {
	var waits []string
	for _, one := range wanted {
		ready := currentReady(one)
		switch {
		case !one.GetDeletionTimestamp().IsZero():
			waits = append(waits, svc.Parts.describe(one, "is being deleted"))
		case ready == nil || ready.Status != metav1.ConditionTrue:
			waits = append(waits, svc.Parts.describe(one, "is not ready"))
		}
	}
	for _, one := range removed {
		waits = append(waits, svc.Parts.describe(one, "is being deleted"))
	}
	return strings.Join(waits, "; ")
}

// describe says how a part is, and why.
func (p Parts) describe(one part, state string) string {
	text := p.Kind.Kind + " " + one.GetName() + " " + state
	if ready := currentReady(one); ready != nil && ready.Message != "" {
		text += ": " + ready.Message
	}
	return text
}

// currentReady returns the condition Ready of a part, nil if it is not about the current spec.
func currentReady(one part) *metav1.Condition {
	ready := meta.FindStatusCondition(one.GetConditions(), vocabulary.ConditionReady)
	if ready == nil || ready.ObservedGeneration != one.GetGeneration() {
		return nil
	}
	return ready
}
