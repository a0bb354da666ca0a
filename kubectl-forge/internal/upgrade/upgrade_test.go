package upgrade

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/google/go-cmp/cmp"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// ready is a Keystone of its own with release 2025.2.
func ready() Facts {
	return of(testutil.Installed(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady)))
}

func of(k *keystonev1alpha1.Keystone) Facts {
	return Facts{Services: []inventory.Instance{testutil.Service(k)}}
}

func keystone(f Facts) *keystonev1alpha1.Keystone {
	return f.Services[0].Resource.(*keystonev1alpha1.Keystone)
}

// planned is a Keystone of a ControlPlane with release 2025.2.
func planned() Facts {
	f := ready()
	f.ControlPlane = testutil.ControlPlane(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	return f
}

func TestPreflightReportsWhatBlocksAnUpgrade(t *testing.T) {
	tests := []struct {
		name, to string
		change   func(*Facts)
		// want is part of the text of the check that fails, "" when none does.
		want string
	}{
		{"the next release", "2026.1", nil, ""},
		{"another build", "2025.2-fixed", nil, ""},
		{"no release", "latest", nil, "not an OpenStack release"},
		{"the installed one", "2025.2", nil, "is installed already; the next release is 2026.1"},
		{"an older one", "2025.1", nil, "cannot be downgraded; the next release is 2026.1"},
		{"one is skipped", "2026.2", nil, "the next release is 2026.1"},
		{"any distance offline", "2030.1", func(f *Facts) {
			keystone(*f).Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: "2030.1"}
		}, ""},
		{"offline to another release", "2030.1", func(f *Facts) {
			keystone(*f).Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: "2026.2"}
		}, "request an offline upgrade with the annotation forge.c5c3.io/offline-upgrade"},
		{"back offline", "2025.1", func(f *Facts) {
			keystone(*f).Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: "2025.1"}
		}, "cannot be downgraded"},
		{"from SLURP to SLURP", "2026.1", func(f *Facts) { keystone(*f).Status.InstalledRelease = "2025.1" }, ""},
		{"over a SLURP release", "2027.1", func(f *Facts) {
			keystone(*f).Status.InstalledRelease = "2025.1"
		}, "is 2026.1: upgrade to that one first"},
		{"nothing is installed", "2026.1", func(f *Facts) { keystone(*f).Status.InstalledRelease = "" }, "no release is installed yet"},
		{"not ready", "2026.1", func(f *Facts) { keystone(*f).Status.Conditions[0].Status = "False" }, "is not ready"},
		{"another upgrade", "2026.1", func(f *Facts) {
			keystone(*f).Status.TargetRelease, keystone(*f).Status.UpgradePhase = "2026.1-a", commonv1.UpgradePhaseExpanding
		}, "use --abort first"},
		{"the same upgrade again", "2026.1", func(f *Facts) {
			keystone(*f).Status.TargetRelease, keystone(*f).Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
			keystone(*f).Status.Conditions[0].Status = "False"
		}, ""},
		{"back during an upgrade", "2025.2", func(f *Facts) { keystone(*f).Status.TargetRelease = "2026.1" }, "use --abort"},
		{"an expanded schema", "2025.2-fixed", func(f *Facts) { keystone(*f).Status.ExpandedRelease = "2026.1" }, "expanded for 2026.1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := ready()
			if tc.change != nil {
				tc.change(&f)
			}
			var failures []string
			for _, finding := range Preflight(f, tc.to) {
				if finding.Result == check.Failed {
					failures = append(failures, finding.Text)
				}
			}
			if text := strings.Join(failures, "; "); (tc.want == "") != (text == "") || !strings.Contains(text, tc.want) {
				t.Errorf("got %q, expected %q", text, tc.want)
			}
		})
	}
}

func TestPreflightWarnsOfAnInterruptionAndOfAMissingBackup(t *testing.T) {
	f := ready()
	keystone(f).Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	keystone(f).Status.Conditions = append(keystone(f).Status.Conditions,
		testutil.False(vocabulary.ConditionBackupHealthy, vocabulary.ReasonBackupNotConfigured, "no copy"))
	var warnings []string
	for _, finding := range Preflight(f, "2026.1") {
		if finding.Result == check.Warning {
			warnings = append(warnings, finding.Name)
		}
	}
	if strings.Join(warnings, ",") != "Rollout,Backup of the keys" {
		t.Errorf("got %v", warnings)
	}
}

func TestAnotherBuildInAControlPlaneNeedsAUserSetImage(t *testing.T) {
	f := planned()
	if findings := Preflight(f, "2025.2-fixed"); !check.AnyFailed(findings) {
		t.Errorf("got %v", findings)
	}
	_, err := Upgrade(both(), "2025.2-fixed")
	if err == nil || !strings.Contains(err.Error(), "spec.services.keystone.image or spec.services.placement.image") {
		t.Errorf("got %v, expected the images that the user may set", err)
	}
	f.ControlPlane.Spec.Services.Keystone.Image = &commonv1.ImageSpec{Repository: "example.com/keystone", Tag: "2025.2"}
	if findings := Preflight(f, "2025.2-fixed"); check.AnyFailed(findings) {
		t.Errorf("got %v", findings)
	}
}

func TestTheReleaseIsPatchedInTheFieldThatSetsIt(t *testing.T) {
	own := planned()
	own.ControlPlane.Spec.Services.Keystone.Image = &commonv1.ImageSpec{Repository: "example.com/keystone", Tag: "2025.2"}
	for name, tc := range map[string]struct {
		facts    Facts
		to, want string
	}{
		"a Keystone":     {ready(), "2026.1", `{"spec":{"image":{"tag":"2026.1"}}}`},
		"a Placement":    {Facts{Services: both().Services[1:]}, "2026.1", `{"spec":{"image":{"tag":"2026.1"}}}`},
		"a ControlPlane": {both(), "2026.1", `{"spec":{"openStackRelease":"2026.1"}}`},
		"a ControlPlane with an image": {
			own, "2026.1-b", `{"spec":{"openStackRelease":"2026.1","services":{"keystone":{"image":{"tag":"2026.1-b"}}}}}`,
		},
	} {
		change, err := Upgrade(tc.facts, tc.to)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := Patch(tc.facts, change); err != nil || string(got) != tc.want {
			t.Errorf("%s: got %s and %v, expected %s", name, got, err, tc.want)
		}
	}
}

func TestAnAbortIsPossibleUntilContracting(t *testing.T) {
	for _, phase := range []commonv1.UpgradePhase{
		commonv1.UpgradePhaseExpanding, commonv1.UpgradePhaseMigrating, commonv1.UpgradePhaseRollingUpdate,
		commonv1.UpgradePhaseStopping,
	} {
		f := ready()
		keystone(f).Spec.Image.Tag, keystone(f).Status.TargetRelease, keystone(f).Status.UpgradePhase = "2026.1", "2026.1", phase
		if to, err := Abort(f); err != nil || to.String() != "2025.2" {
			t.Errorf("%s: got %q, %v", phase, to, err)
		}
	}
	for _, phase := range []commonv1.UpgradePhase{commonv1.UpgradePhaseContracting, commonv1.UpgradePhaseSyncing} {
		f := ready()
		keystone(f).Status.TargetRelease, keystone(f).Status.UpgradePhase = "2026.1", phase
		if _, err := Abort(f); err == nil || !strings.Contains(err.Error(), string(phase)+" and can no longer be rolled back") {
			t.Errorf("%s: got %v", phase, err)
		}
	}
	if _, err := Abort(ready()); err == nil || !strings.Contains(err.Error(), "no upgrade is in progress") {
		t.Errorf("no upgrade: got %v", err)
	}
}

func TestARefusedReleaseCanBeAborted(t *testing.T) {
	f := planned()
	f.ControlPlane.Spec.OpenStackRelease = "2026.2"
	if to, err := Abort(f); err != nil || to.String() != "2025.2" {
		t.Errorf("got %q, %v", to, err)
	}
}

func TestTheViewShowsTheUpgradePhases(t *testing.T) {
	f := ready()
	keystone(f).Spec.Image.Tag = "2026.1"
	keystone(f).Generation = 2
	if view := View(f, Change{Release: "2026.1"}); view.Done || view.Rows[0].Name != "Operator" {
		t.Errorf("got %+v before the operator has seen the change", view)
	}
	keystone(f).Status.ObservedGeneration, keystone(f).Status.TargetRelease = 2, "2026.1"
	keystone(f).Status.UpgradePhase = commonv1.UpgradePhaseRollingUpdate
	var states []string
	for _, row := range View(f, Change{Release: "2026.1"}).Rows[:4] {
		states = append(states, row.Name+" "+row.State)
	}
	if got := strings.Join(states, ", "); got != "Expanding Done, Migrating Done, RollingUpdate Run, Contracting Wait" {
		t.Errorf("got %s", got)
	}
	keystone(f).Status.UpgradePhase = commonv1.UpgradePhaseSyncing
	if rows := View(f, Change{Release: "2026.1"}).Rows; rows[0].Name+rows[0].State+rows[1].Name+rows[1].State != "StoppingDoneSyncingRun" {
		t.Errorf("offline: got %+v", rows)
	}
	keystone(f).Status.TargetRelease, keystone(f).Status.UpgradePhase, keystone(f).Status.InstalledRelease = "", "", "2026.1"
	if view := View(f, Change{Release: "2026.1"}); !view.Done {
		t.Errorf("got %+v at the end", view)
	}
}

func TestAControlPlaneIsDoneWhenItIsReadyItself(t *testing.T) {
	f := planned()
	f.ControlPlane.Generation = 2
	if View(f, Change{Release: "2025.2"}).Done {
		t.Error("its operator has not seen the change")
	}
	f.ControlPlane.Status.ObservedGeneration = 2
	if !View(f, Change{Release: "2025.2"}).Done {
		t.Error("everything is ready")
	}
}

func TestAFailedPhaseOfAnEarlierGenerationIsIgnored(t *testing.T) {
	found := testutil.Upgrading()
	f := of(testutil.KeystoneIn(found))
	if view := View(f, Change{Release: "2026.1"}); view.Failed == nil || !strings.Contains(view.Failed.Error(), "MigrateFailed") {
		t.Errorf("got %v", view.Failed)
	}
	keystone(f).Generation, keystone(f).Status.ObservedGeneration = 2, 2
	if view := View(f, Change{Release: "2026.1"}); view.Failed != nil {
		t.Errorf("got %v from the spec before", view.Failed)
	}
	keystone(f).Spec.Image.Tag = "2025.2"
	if view := View(f, Change{Release: "2025.2"}); view.Done || view.Rows[0].Name != "Abort" {
		t.Errorf("got %+v while the upgrade is taken back", view)
	}
}

// both is a ControlPlane with a Keystone and a Placement of release 2025.2.
func both() Facts {
	f := planned()
	f.Services = append(f.Services, testutil.Service(
		testutil.Placement(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))))
	return f
}

func TestAllServicesOfAControlPlaneAreChecked(t *testing.T) {
	f := both()
	if findings := Preflight(f, "2026.1"); check.AnyFailed(findings) {
		t.Errorf("got %v", findings)
	}
	f.Services[1].ServiceStatus().ExpandedRelease = "2026.2"
	var failures []string
	for _, finding := range Preflight(f, "2026.1") {
		if finding.Result == check.Failed {
			failures = append(failures, finding.Name)
		}
	}
	if got := strings.Join(failures, ", "); got != "Placement: Running upgrade" {
		t.Errorf("got %q", got)
	}
}

func TestAServiceThatHasTheReleaseDoesNotBlockTheOthers(t *testing.T) {
	f := both()
	f.Services[0].ServiceStatus().InstalledRelease = "2026.1"
	if findings := Preflight(f, "2026.1"); check.AnyFailed(findings) {
		t.Errorf("got %v", findings)
	}
	_, err := Abort(f)
	for _, want := range []string{"has to follow it", "correct what blocks it"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected that there is no way back, and %q", err, want)
		}
	}
}

func TestTheUpgradeOfAControlPlaneEndsWithItsLastService(t *testing.T) {
	f := both()
	for i, tag := range []string{"2026.1", "2025.2"} {
		f.Services[i].ServiceStatus().InstalledRelease = tag
	}
	keystone(f).Spec.Image.Tag = "2026.1"
	view := View(f, Change{Release: "2026.1"})
	last := view.Rows[len(view.Rows)-1]
	if view.Done || last.Name != "Placement: Operator" || !strings.Contains(last.Text, "has not observed") {
		t.Errorf("got %+v", view)
	}
	f.Services[1].Resource.(*placementv1alpha1.Placement).Spec.Image.Tag = "2026.1"
	f.Services[1].ServiceStatus().InstalledRelease = "2026.1"
	if view := View(f, Change{Release: "2026.1"}); !view.Done {
		t.Errorf("got %+v at the end", view)
	}
}

func withImages(tags ...string) Facts {
	f := both()
	services := &f.ControlPlane.Spec.Services
	services.Keystone.Image = &commonv1.ImageSpec{Repository: "example.com/keystone", Tag: tags[0]}
	f.Services[0].ServiceStatus().InstalledRelease = tags[0]
	if len(tags) > 1 {
		services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
		services.Placement.Image = &commonv1.ImageSpec{Repository: "example.com/placement", Tag: tags[1]}
		f.Services[1].ServiceStatus().InstalledRelease = tags[1]
	}
	return f
}

func TestAnotherBuildOfOneServiceDoesNotChangeTheOthers(t *testing.T) {
	f := withImages("2025.2-r1")
	if findings := Preflight(f, "2025.2-r2"); check.AnyFailed(findings) {
		t.Errorf("got %v", findings)
	}
	change, err := Upgrade(f, "2025.2-r2")
	if err != nil || change.Tag(f.Services[0]) != "2025.2-r2" || change.Tag(f.Services[1]) != "2025.2" {
		t.Errorf("got %+v and %v", change, err)
	}
	if _, err := Abort(f); err == nil || !strings.Contains(err.Error(), "no upgrade is in progress") {
		t.Errorf("got %v", err)
	}
}

func TestAnotherBuildNeedsAServiceIfSeveralHaveAnImage(t *testing.T) {
	f := withImages("2025.2-r1", "2025.2-p1")
	if _, err := Upgrade(f, "2025.2-r2"); err == nil || !strings.Contains(err.Error(), "keystone/keystone") {
		t.Errorf("got %v, expected to be asked for the service", err)
	}
	f.Named = "placement"
	change, err := Upgrade(f, "2025.2-p2")
	if err != nil || change.Tag(f.Services[0]) != "2025.2-r1" || change.Tag(f.Services[1]) != "2025.2-p2" {
		t.Errorf("got %+v and %v", change, err)
	}
}

func TestAnAbortRestoresTheInstalledImageOfEachService(t *testing.T) {
	f := withImages("2025.2-r1", "2025.2-p1")
	f.ControlPlane.Spec.Services.Keystone.Image.Tag = "2026.1"
	f.Services[0].ServiceStatus().TargetRelease, f.Services[0].ServiceStatus().UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
	change, err := Abort(f)
	want := Change{Release: "2025.2", Tags: map[string]string{"keystone": "2025.2-r1", "placement": "2025.2-p1"}}
	if diff := cmp.Diff(want, change); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestAPartiallyUpgradedControlPlaneCanBeFollowedAgain(t *testing.T) {
	f := both()
	f.ControlPlane.Spec.OpenStackRelease = "2026.1"
	f.ControlPlane.Status.Conditions = testutil.NotReady(false,
		testutil.False("PlacementReady", "WaitingForPlacement", "Placement has not been observed yet"))
	f.Services[0].ServiceStatus().InstalledRelease = "2026.1"
	if findings := Preflight(f, "2026.1"); check.AnyFailed(findings) {
		t.Errorf("got %v", findings)
	}
}

func TestAServiceThatWaitsForAnotherSaysSo(t *testing.T) {
	f := both()
	keystone(f).Spec.Image.Tag = "2026.1"
	keystone(f).Status.TargetRelease, keystone(f).Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
	view := View(f, Change{Release: "2026.1"})
	if last := view.Rows[len(view.Rows)-1]; last.Name != "Placement: Upgrade" || last.Text != "begins when Keystone has its release" {
		t.Errorf("got %+v", last)
	}
}

func TestAFailureNamesItsServiceWhereThereAreSeveral(t *testing.T) {
	f := both()
	failing := f.Services[1].Resource.(*placementv1alpha1.Placement)
	failing.Spec.Image.Tag, failing.Status.TargetRelease = "2026.1", "2026.1"
	failing.Status.Conditions = append(failing.Status.Conditions,
		testutil.False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonExpandFailed, "no such program"))
	view := View(f, Change{Release: "2026.1"})
	if view.Failed == nil || view.Failed.Error() != "placement/placement: ExpandFailed: no such program" {
		t.Errorf("got %v", view.Failed)
	}
}

func TestWithoutAnUpgradeEachServicesReleaseIsNamed(t *testing.T) {
	_, err := Abort(withImages("2025.2-r1", "2025.2-p1"))
	if err == nil || !strings.Contains(err.Error(), "2025.2, keystone 2025.2-r1, placement 2025.2-p1 is installed and requested") {
		t.Errorf("got %v", err)
	}
}
