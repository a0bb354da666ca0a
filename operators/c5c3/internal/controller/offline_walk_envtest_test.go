//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// watchOrder records whether a Keystone is upgraded offline before its Placement is stopped.
func watchOrder(ctx context.Context, c client.Client, k *keystonev1alpha1.Keystone) {
	if k.Annotations[commonv1.AnnotationOfflineUpgrade] != k.Spec.Image.Tag || k.Status.InstalledRelease == k.Spec.Image.Tag {
		return
	}
	p := &placementv1alpha1.Placement{}
	err := c.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: "controlplane-placement"}, p)
	database := meta.FindStatusCondition(p.Status.Conditions, "DatabaseReady")
	if err == nil && (database == nil || database.Reason != "UpgradeHeld") {
		breaches.Store(k.Namespace, fmt.Errorf("the Keystone was upgraded while the Placement had DatabaseReady %+v", database))
	}
}

// holdUpgrade simulates a service operator that holds an offline upgrade, and reports whether it
// does.
func holdUpgrade(obj client.Object, status *commonv1.ServiceStatus, tag string) bool {
	annotations := obj.GetAnnotations()
	if annotations[commonv1.AnnotationOfflineUpgrade] != tag || annotations[commonv1.AnnotationHoldUpgrade] != tag {
		status.TargetRelease, status.UpgradePhase = "", ""
		meta.RemoveStatusCondition(&status.Conditions, "DatabaseReady")
		return false
	}
	status.TargetRelease, status.UpgradePhase = tag, commonv1.UpgradePhaseStopping
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: "DatabaseReady", Status: metav1.ConditionFalse, Reason: "UpgradeHeld", ObservedGeneration: obj.GetGeneration(),
	})
	return true
}

// releases are what a walk through an offline upgrade is judged by.
type releases struct {
	state
	Keystone, Placement    string
	AnnotationsOfPlacement map[string]string
}

func TestAnOperatorKilledDuringAnOfflineUpgradeStopsTheServicesInOrder(t *testing.T) {
	t.Parallel()
	trial := conformance.Trial[*c5c3v1alpha1.ControlPlane]{Kind: controlPlanes(placement), World: &conform}
	c := conform.Admin
	request := func(ctx context.Context, namespace string) error {
		cp := minimal(namespace)
		if err := c.Get(ctx, client.ObjectKeyFromObject(cp), cp); err != nil {
			return err
		}
		cp.Spec.OpenStackRelease, cp.Annotations = farRelease, map[string]string{commonv1.AnnotationOfflineUpgrade: farRelease}
		return c.Update(ctx, cp)
	}
	observed := func(ctx context.Context, namespace string) (releases, error) {
		s, err := observe(ctx, namespace)
		if err != nil {
			return releases{}, err
		}
		k, p := &keystonev1alpha1.Keystone{}, &placementv1alpha1.Placement{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "controlplane-keystone"}, k); err != nil {
			return releases{}, err
		}
		err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "controlplane-placement"}, p)
		return releases{s, k.Status.InstalledRelease, p.Status.InstalledRelease, p.Annotations}, err
	}
	withoutBreach(t)
	crashwalk.Walk(t, crashwalk.Scenario[releases]{
		Config: trial.AsOperator, Operator: trial.Operate, Observe: observed,
		// The Placement is stopped, gets its own fields, and is let go.
		Writes: map[string]int{
			"apply placements.placement.openstack.c5c3.io": 3, "apply keystones.keystone.openstack.c5c3.io": 1, updateStatus: 2,
		},
		Prepare: func(ctx context.Context) (string, error) { return trial.Changed(ctx, request) },
		Settled: func(ctx context.Context, namespace string) error {
			state, err := observed(ctx, namespace)
			if err != nil {
				return err
			}
			if state.Keystone != farRelease || state.Placement != farRelease || len(state.AnnotationsOfPlacement) != 1 {
				return fmt.Errorf("the services have %+v", state)
			}
			return trial.Converged(ctx, namespace)
		},
		Compare: func(undisturbed, _, final releases) string {
			return cmp.Diff(undisturbed, final, cmp.AllowUnexported(releases{}))
		},
	})
}
