package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// reconcileBootstrapResources keeps the projects and roles of the spec, and those of
// the users of services. One that is no longer named stays in OpenStack.
func (all serviceList) reconcileBootstrapResources(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil || !passwordCloud.Value(s.Slots) {
		// The step KORC tells what is missing. K-ORC would put its finalizer on a
		// Secret of somebody else, which could not be deleted any more.
		return prepared()
	}
	var wanted, waiting []string
	var again time.Duration
	var statuses []c5c3v1alpha1.BootstrapResourceStatus
	for _, resource := range all.bootstrapResources(s.cp) {
		obj := bootstrapResource(s.cp, resource)
		wait, err := s.ensureORC(ctx, obj, s.failingSince(c5c3v1alpha1.ConditionKORCReady))
		if err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonBootstrapResourceError, fmt.Errorf("%s %q: %w", resource.Kind, resource.Name, err))
		}
		again = sooner(again, wait)
		ready := stateOf(obj).available
		if !ready {
			waiting = append(waiting, describe(obj))
		}
		wanted = append(wanted, obj.GetName())
		statuses = append(statuses, c5c3v1alpha1.BootstrapResourceStatus{
			Kind: resource.Kind, Name: resource.Name, ObjectName: obj.GetName(), Ready: ready, ID: resourceID(obj),
		})
	}
	s.cp.Status.BootstrapResources = statuses
	if err := s.releaseBootstrapResources(ctx, wanted); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonBootstrapResourceError, err)
	}
	if len(waiting) > 0 {
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForBootstrapResources, "Waiting for "+strings.Join(waiting, ", ")).After(again)
	}
	return prepared()
}

func resourceID(obj orcObject) string {
	switch obj := obj.(type) {
	case *orcv1alpha1.Project:
		return ptr.Deref(obj.Status.ID, "")
	case *orcv1alpha1.Role:
		return ptr.Deref(obj.Status.ID, "")
	}
	return ""
}

// releaseBootstrapResources lets go of the ones that are not wanted.
func (s *scope) releaseBootstrapResources(ctx context.Context, wanted []string) error {
	found, err := s.bootstrapObjects(ctx)
	if err != nil {
		return err
	}
	for _, obj := range found {
		if slices.Contains(wanted, obj.GetName()) {
			continue
		}
		if err := s.prepareRemoval(ctx, obj); err != nil {
			return err
		}
		if err := s.orphan(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// bootstrapObjects are the objects of bootstrap resources that the control plane
// has made.
func (s *scope) bootstrapObjects(ctx context.Context) ([]orcObject, error) {
	var projects orcv1alpha1.ProjectList
	var roles orcv1alpha1.RoleList
	var found []orcObject
	for _, list := range []client.ObjectList{&projects, &roles} {
		if err := s.foreign.List(ctx, list, client.InNamespace(s.cp.Namespace), client.HasLabels{labelBootstrap}); err != nil {
			return nil, fmt.Errorf("listing the objects of bootstrap resources: %w", err)
		}
	}
	for i := range projects.Items {
		found = append(found, &projects.Items[i])
	}
	for i := range roles.Items {
		found = append(found, &roles.Items[i])
	}
	return slices.DeleteFunc(found, func(obj orcObject) bool { return !metav1.IsControlledBy(obj, s.cp) }), nil
}
