package services

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const farRelease = "2027.2"

// converged is a plant whose control plane has both services with release 2025.2.
func converged(t *testing.T) *plant {
	t.Helper()
	p := newPlant(t, withSundial())
	p.pass(t)
	p.keystoneIsReady(t)
	p.pass(t)
	p.sundialIs(t, "2025.2", "", metav1.ConditionTrue)
	p.pass(t)
	return p
}

// asks sets the far release in the control plane, and the value of its annotation.
func (p *plant) asks(t *testing.T, annotation string) {
	t.Helper()
	cp := fixture.Minimal()
	p.get(t, cp, cp.Name)
	cp.Spec.OpenStackRelease, cp.Annotations[commonv1.AnnotationOfflineUpgrade] = farRelease, annotation
	p.update(t, cp)
}

func (p *plant) keystone(t *testing.T) *keystonev1alpha1.Keystone {
	t.Helper()
	k := &keystonev1alpha1.Keystone{}
	p.get(t, k, "controlplane-keystone")
	return k
}

func (p *plant) sundial(t *testing.T) *sundial {
	t.Helper()
	child := &sundial{}
	p.get(t, child, sundialName)
	return child
}

// sundialHas sets DatabaseReady of the service, whose upgrade leads to the target.
func (p *plant) sundialHas(t *testing.T, target, reason, message string) {
	t.Helper()
	child := p.sundial(t)
	child.Status.TargetRelease = target
	meta.SetStatusCondition(&child.Status.Conditions, metav1.Condition{
		Type: vocabulary.ConditionDatabaseReady, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
	p.update(t, child)
}

func TestTheOtherServicesStopBeforeKeystoneIsUpgradedOffline(t *testing.T) {
	p := converged(t)
	p.asks(t, farRelease)
	cp := p.pass(t)
	child := p.sundial(t)
	want := map[string]string{commonv1.AnnotationOfflineUpgrade: farRelease, commonv1.AnnotationHoldUpgrade: farRelease}
	if diff := cmp.Diff(want, child.Annotations); diff != "" || child.Spec.Image.Tag != farRelease {
		t.Errorf("the other service has tag %s and annotations (-want +got):\n%s", child.Spec.Image.Tag, diff)
	}
	const waits = "Keystone controlplane-keystone is upgraded offline when the other services are stopped; " +
		"waiting for Sundial controlplane-sundial"
	expectCondition(t, cp, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", waits)
	if cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseUpdating {
		t.Errorf("the update is in phase %s", cp.Status.UpdatePhase)
	}

	p.sundialHas(t, farRelease, vocabulary.ReasonUpgradeStopping, "waits until pod a has stopped")
	expectCondition(t, p.pass(t), "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", waits+": waits until pod a has stopped")
	p.sundialHas(t, "2025.2", vocabulary.ReasonUpgradeHeld, "held for another release")
	p.pass(t)
	if k := p.keystone(t); k.Spec.Image.Tag != "2025.2" || len(k.Annotations) > 0 {
		t.Errorf("Keystone has tag %s and annotations %v before the other service is stopped", k.Spec.Image.Tag, k.Annotations)
	}

	p.sundialHas(t, farRelease, vocabulary.ReasonUpgradeHeld, "held")
	p.pass(t)
	delete(want, commonv1.AnnotationHoldUpgrade)
	if k := p.keystone(t); k.Spec.Image.Tag != farRelease || !cmp.Equal(want, k.Annotations) {
		t.Errorf("Keystone has tag %s and annotations %v", k.Spec.Image.Tag, k.Annotations)
	}
}

func TestAStartedOfflineUpgradeDoesNotWaitForOtherServices(t *testing.T) {
	p := converged(t)
	k := p.keystone(t)
	k.Status.TargetRelease, k.Status.UpgradePhase = farRelease, commonv1.UpgradePhaseSyncing
	p.update(t, k)
	p.asks(t, farRelease)
	p.pass(t)
	if k := p.keystone(t); k.Spec.Image.Tag != farRelease {
		t.Errorf("Keystone has %s while it is upgraded", k.Spec.Image.Tag)
	}
}

func TestOnlyAnOfflineRequestForTheTargetReleaseStopsServices(t *testing.T) {
	for name, annotation := range map[string]string{"no request": "", "a request for another release": "2027.1"} {
		p := converged(t)
		p.asks(t, annotation)
		p.pass(t)
		if child := p.sundial(t); len(child.Annotations) > 0 {
			t.Errorf("%s: the other service has annotations %v", name, child.Annotations)
		}
		if k := p.keystone(t); k.Spec.Image.Tag != farRelease || len(k.Annotations) > 0 {
			t.Errorf("%s: Keystone has tag %s and annotations %v", name, k.Spec.Image.Tag, k.Annotations)
		}
	}
}

func TestServicesThatAreNotUpgradedAreNotStopped(t *testing.T) {
	for name, installed := range map[string]string{
		"no release yet": "", "the release already": farRelease, "another build of it": farRelease + "-a",
	} {
		p := converged(t)
		p.sundialIs(t, installed, "", metav1.ConditionTrue)
		p.asks(t, farRelease)
		p.pass(t)
		if child := p.sundial(t); child.Annotations[commonv1.AnnotationHoldUpgrade] != "" {
			t.Errorf("%s: the other service is held", name)
		}
		if tag := p.keystone(t).Spec.Image.Tag; tag != farRelease {
			t.Errorf("%s: Keystone has %s", name, tag)
		}
	}
}

func TestAnOfflineRequestAlsoCoversBuildsOfTheRelease(t *testing.T) {
	cp := fixture.Minimal()
	cp.Spec.OpenStackRelease = farRelease
	cp.Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: farRelease}
	for tag, want := range map[string]string{
		farRelease: farRelease, farRelease + "-a": farRelease + "-a", "2027.1": "", "2027.1-" + farRelease: "",
	} {
		child := &sundial{}
		child.Spec.Image.Tag = tag
		requestOffline(cp, child)
		if got := child.Annotations[commonv1.AnnotationOfflineUpgrade]; got != want {
			t.Errorf("%s: got %q, want %q", tag, got, want)
		}
	}
}

func TestAnOfflineUpgradeIsRequestedOnTheControlPlane(t *testing.T) {
	cp := withSundial()
	cp.Spec.OpenStackRelease = farRelease
	k := &keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Name: "cloud-keystone"}}
	k.Status.Conditions = []metav1.Condition{
		{Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Message: "use the annotation " + commonv1.AnnotationOfflineUpgrade},
		{Type: vocabulary.ConditionDatabaseReady, Status: metav1.ConditionFalse, Reason: vocabulary.ReasonUpgradePathInvalid},
	}
	want := "Keystone cloud-keystone is not ready: use the annotation forge.c5c3.io/offline-upgrade" +
		`; here set that annotation on ControlPlane controlplane: "2027.2"`
	if got := All.progress(cp, Keystone, k); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARollbackFromAnOfflineMigrationNeedsABackupRestore(t *testing.T) {
	status := &commonv1.ServiceStatus{
		InstalledRelease: "2025.2", TargetRelease: farRelease, UpgradePhase: commonv1.UpgradePhaseSyncing,
	}
	want := "the update from 2025.2 to 2027.2 can no longer be aborted, because the migration of the database has begun; " +
		"set spec.openStackRelease to 2027.2; the only way back to 2025.2 is a restore of a database backup"
	if got := rollBackError(status, "spec.openStackRelease").Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
