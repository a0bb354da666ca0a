package services

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
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// ReconcileBootstrapResources ensures the projects and roles of the spec, and those that
// service users need. Those that are no longer listed are kept in OpenStack.
func (all List) ReconcileBootstrapResources(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil || !pass.PasswordCloud.Value(s.Slots) {
		// The step KORC tells what is missing. K-ORC would put its finalizer on a
		// Secret of somebody else, which could not be deleted any more.
		return pass.NothingToAdd()
	}
	var wanted, waiting []string
	var again time.Duration
	var statuses []c5c3v1alpha1.BootstrapResourceStatus
	for _, resource := range all.bootstrapResources(s.CP) {
		obj := bootstrapResource(s.CP, resource)
		wait, err := korc.Ensure(ctx, s, obj, pass.FailingSince(s, c5c3v1alpha1.ConditionKORCReady))
		if err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonBootstrapResourceError, fmt.Errorf("%s %q: %w", resource.Kind, resource.Name, err))
		}
		again = reconcile.Sooner(again, wait)
		ready := korc.StateOf(obj).Available
		if !ready {
			waiting = append(waiting, korc.Describe(obj))
		}
		wanted = append(wanted, obj.GetName())
		statuses = append(statuses, c5c3v1alpha1.BootstrapResourceStatus{
			Kind: resource.Kind, Name: resource.Name, ObjectName: obj.GetName(), Ready: ready, ID: resourceID(obj),
		})
	}
	s.CP.Status.BootstrapResources = statuses
	if err := releaseBootstrapResources(ctx, s, wanted); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonBootstrapResourceError, err)
	}
	if len(waiting) > 0 {
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForBootstrapResources, "Waiting for "+strings.Join(waiting, ", ")).After(again)
	}
	return pass.NothingToAdd()
}

func resourceID(obj korc.Object) string {
	switch obj := obj.(type) {
	case *orcv1alpha1.Project:
		return ptr.Deref(obj.Status.ID, "")
	case *orcv1alpha1.Role:
		return ptr.Deref(obj.Status.ID, "")
	}
	return ""
}

// releaseBootstrapResources orphans the resources that are no longer wanted.
func releaseBootstrapResources(ctx context.Context, s *pass.Pass, wanted []string) error {
	found, err := BootstrapObjects(ctx, s)
	if err != nil {
		return err
	}
	for _, obj := range found {
		if slices.Contains(wanted, obj.GetName()) {
			continue
		}
		if err := korc.PrepareRemoval(ctx, s, obj); err != nil {
			return err
		}
		if err := korc.Orphan(ctx, s, obj); err != nil {
			return err
		}
	}
	return nil
}

// BootstrapObjects returns the objects of bootstrap resources that the control plane has
// created.
func BootstrapObjects(ctx context.Context, s *pass.Pass) ([]korc.Object, error) {
	found, err := korc.Own[korc.Object](ctx, s, client.HasLabels{labelBootstrap}, &orcv1alpha1.ProjectList{}, &orcv1alpha1.RoleList{})
	if err != nil {
		return nil, fmt.Errorf("listing the objects of bootstrap resources: %w", err)
	}
	return found, nil
}

// labelBootstrap is set on the objects of bootstrap resources.
const labelBootstrap = "c5c3.io/bootstrap-resource"

// bootstrapMeta derives a name that is valid in Kubernetes and unique to the resource.
func bootstrapMeta(cp *c5c3v1alpha1.ControlPlane, resource c5c3v1alpha1.BootstrapResourceSpec) metav1.ObjectMeta {
	kind := strings.ToLower(resource.Kind)
	meta := controlplane.ChildMeta(cp, fmt.Sprintf("%s-%s-%s", cp.Name, kind, controlplane.ShortHash(resource.Kind+"/"+resource.Name)))
	meta.Labels[labelBootstrap] = kind
	return meta
}

func bootstrapResource(cp *c5c3v1alpha1.ControlPlane, resource c5c3v1alpha1.BootstrapResourceSpec) korc.Object {
	with := korc.AdminSystemCloud(cp)
	name := ptr.To(orcv1alpha1.KeystoneName(resource.Name))
	if resource.Kind == c5c3v1alpha1.BootstrapKindRole {
		return &orcv1alpha1.Role{ObjectMeta: bootstrapMeta(cp, resource), Spec: orcv1alpha1.RoleSpec{
			CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: korc.Detached(),
			Resource: &orcv1alpha1.RoleResourceSpec{Name: name},
		}}
	}
	return &orcv1alpha1.Project{ObjectMeta: bootstrapMeta(cp, resource), Spec: orcv1alpha1.ProjectSpec{
		CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: korc.Detached(),
		Resource: &orcv1alpha1.ProjectResourceSpec{Name: name, DomainRef: korc.NameRef(cp.DomainImportName())},
	}}
}
