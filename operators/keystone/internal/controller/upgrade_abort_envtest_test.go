//go:build integration

package controller_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// phases are where an upgrade can still be taken back, and what it waits for
// there.
var phases = []struct {
	phase  keystonev1alpha1.UpgradePhase
	stuck  string
	reason string
	failed string
}{
	{keystonev1alpha1.UpgradePhaseExpanding, "db-expand", "ExpandInProgress", "ExpandFailed"},
	{keystonev1alpha1.UpgradePhaseMigrating, "db-migrate", "MigrateInProgress", "MigrateFailed"},
	{keystonev1alpha1.UpgradePhaseRollingUpdate, "", "UpgradeRollingUpdate", ""},
}

func TestAnUpgradeIsTakenBackBySettingTheOldTag(t *testing.T) {
	for _, p := range phases {
		t.Run(string(p.phase), func(t *testing.T) {
			t.Parallel()
			c, k, operator := upgrading(t, p.stuck, standin.Hang())
			expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, p.reason)
			inPhase(t, c, k, p.phase)
			expectCronImages(t, c, k, oldTag)
			setTag(t, c, k, oldTag)
			// Otherwise the upgrade could go on before it is taken back.
			observed(t, c, k)
			settleOn(k, p.stuck, standin.Succeed())
			installed(t, c, k, oldTag)
			for _, name := range []string{"db-expand", "db-migrate", "db-contract"} {
				expect.Gone(t, c, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name + "-" + name}})
			}
			if runs := runsOf(k); runs["db-sync"] != 1 || runs["schema-check"] != 1 || runs["db-contract"] != 0 {
				t.Errorf("the old release's tools ran on the schema of the new one: %v", runs)
			}
			if k.Status.ExpandedRelease != newTag {
				t.Errorf("the status forgot that the schema may be expanded for %s", newTag)
			}
			expectOnce(t, c, k, operator, "UpgradeInitiated", "UpgradeAborted")
			settle(t, c, k, operator)

			setTag(t, c, k, newTag)
			installed(t, c, k, newTag)
			if k.Status.ExpandedRelease != "" {
				t.Errorf("the schema is still said to be expanded for %s after the upgrade", k.Status.ExpandedRelease)
			}
		})
	}
}

// The old release's db_sync does not know the revision that the new one left.
func TestAPatchAfterAnAbortedUpgradeRunsNoMigration(t *testing.T) {
	t.Parallel()
	c, k, _ := upgrading(t, "db-migrate", standin.Hang())
	inPhase(t, c, k, keystonev1alpha1.UpgradePhaseMigrating)
	setTag(t, c, k, oldTag)
	installed(t, c, k, oldTag)
	setTag(t, c, k, oldTag+"-fixed")
	installed(t, c, k, oldTag+"-fixed")
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 2, "db-expand": 1})
}

func TestAnAbortWaitsForTheJobsOfTheUpgrade(t *testing.T) {
	t.Parallel()
	c, k, _ := upgrading(t, "db-expand", standin.Hang())
	inPhase(t, c, k, keystonev1alpha1.UpgradePhaseExpanding)
	expand := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name + "-db-expand"}}
	objects.Change(t, c, expand, func(job *batchv1.Job) { job.Finalizers = append(job.Finalizers, "example.com/still-running") })
	setTag(t, c, k, oldTag)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "UpgradeAborting", "waiting for Job keystone-db-expand to end")
	objects.Change(t, c, expand, func(job *batchv1.Job) { job.Finalizers = nil })
	installed(t, c, k, oldTag)
}

func TestAnUpgradeCannotBeTakenBackOnceItContracts(t *testing.T) {
	t.Parallel()
	c, k, operator := upgrading(t, "db-contract", standin.Hang())
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "ContractInProgress")
	inPhase(t, c, k, keystonev1alpha1.UpgradePhaseContracting)
	expectCronImages(t, c, k, newTag)
	setTag(t, c, k, oldTag)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "UpgradeAbortRefused",
		"can no longer be aborted", "set image.tag to 2025.2")
	settle(t, c, k, operator)
	expectOnce(t, c, k, operator, "UpgradeAbortRefused")
	deploy := deploymentOf(k)
	expect.Exists(t, c, deploy)
	if got := deploy.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(got, ":"+newTag) {
		t.Errorf("pods of %s meet a contracted schema", got)
	}
	expectCronImages(t, c, k, newTag)
	settleOn(k, "db-contract", standin.Succeed())
	setTag(t, c, k, newTag)
	installed(t, c, k, newTag)
}

func TestAThirdTagDuringAnUpgradeIsRefused(t *testing.T) {
	t.Parallel()
	c, k, operator := upgrading(t, "db-expand", standin.Hang())
	inPhase(t, c, k, keystonev1alpha1.UpgradePhaseExpanding)
	setTag(t, c, k, "2026.1")
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "UpgradeTargetChanged",
		"set image.tag to 2025.2 to finish it, or to 2025.1 to abort it")
	settle(t, c, k, operator)
	expectOnce(t, c, k, operator, "UpgradeTargetChanged")
	settleOn(k, "db-expand", standin.Succeed())
	setTag(t, c, k, newTag)
	installed(t, c, k, newTag)
}
