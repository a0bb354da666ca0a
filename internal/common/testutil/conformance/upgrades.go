package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// upgrades verifies upgrades to the next release, and aborting them while that is
// possible.
func (s suite[T]) upgrades(t *testing.T) {
	if !s.hasData() {
		t.Run("another release replaces the pods", s.replacedPods)
		return
	}
	t.Run("an unsupported release is refused and the old one keeps serving", s.impossibleReleases)
	t.Run("an upgrade from a SLURP release to the next is one step", s.slurp)
	t.Run("an operator that allows unsupported upgrades skips any number of releases", s.unsupported)
	t.Run("an upgrade is aborted by setting the old tag", s.takenBack)
	t.Run("a failed phase is reported and resumes once corrected", s.failedPhases)
}

// replacedPods changes the release of a service without a database, there and back.
func (s suite[T]) replacedPods(t *testing.T) {
	t.Parallel()
	i := s.converged(t, plain)
	old, next := i.tag(), after(i.tag(), 1)
	i.setDeployment(standin.Hang())
	i.setTag(next)
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment)
	if got := i.Resource.ServiceStatus().InstalledRelease; got != old {
		t.Errorf("release %q is installed before its pods are available, expected %q", got, old)
	}
	i.setDeployment(standin.Succeed())
	i.installed(next)
	i.event("Normal "+vocabulary.EventDeploymentRolloutComplete, 1)
	i.setTag(old)
	i.installed(old)
	i.settle()
}

// after returns the n-th release after that of the tag, before it if n is negative.
func after(tag string, n int) string {
	var year, number int
	if _, err := fmt.Sscanf(tag, "%d.%d", &year, &number); err != nil {
		return err.Error()
	}
	count := 2*year + number - 1 + n
	return fmt.Sprintf("%d.%d", count/2, count%2+1)
}

func (i *Instance[T]) tag() string { return i.Resource.ServiceSpec().Image.Tag }

func (i *Instance[T]) setTag(tag string) {
	i.Helper()
	i.change(func(spec *commonv1.ServiceSpec) { spec.Image.Tag = tag })
}

// database waits until DatabaseReady is False with the reason.
func (i *Instance[T]) database(reason string, says ...string) {
	i.Helper()
	i.Fails(vocabulary.ConditionDatabaseReady, reason, says...)
}

// inPhase waits until the upgrade is in the phase for the current spec.
func (i *Instance[T]) inPhase(phase commonv1.UpgradePhase) {
	i.Helper()
	expect.Object(i.T, i.Admin, i.Resource, func() error {
		status := i.Resource.ServiceStatus()
		if status.UpgradePhase != phase || status.ObservedGeneration != i.Resource.GetGeneration() {
			return fmt.Errorf("the phase is %q, expected %q", status.UpgradePhase, phase)
		}
		return nil
	})
}

// runs fails the test unless the template of the API pods has the release, and waits for
// the CronJobs.
func (i *Instance[T]) runs(tag string) {
	i.Helper()
	deployment := i.deployment()
	expect.Exists(i.T, i.Admin, deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; !fits(got, tag) {
		i.Errorf("the pods run %s, expected release %s", got, tag)
	}
	i.scheduled(tag)
}

// fits reports whether the image has the tag, or a policy has replaced it.
func fits(image, tag string) bool {
	return strings.HasSuffix(image, ":"+tag) || strings.Contains(image, "@")
}

// scheduled waits until the CronJobs of the resource, if it has any, run the release.
func (i *Instance[T]) scheduled(tag string) {
	i.Helper()
	expect.Eventually(i.T, "the image of the CronJobs", func(ctx context.Context) error {
		var list batchv1.CronJobList
		if err := i.Admin.List(ctx, &list, client.InNamespace(i.namespace())); err != nil {
			return err
		}
		for _, job := range list.Items {
			for _, container := range job.Spec.JobTemplate.Spec.Template.Spec.Containers {
				if !fits(container.Image, tag) {
					return fmt.Errorf("CronJob %s runs %s", job.Name, container.Image)
				}
			}
		}
		return nil
	})
}

// installed waits until the release is installed and no upgrade is running.
func (i *Instance[T]) installed(tag string) {
	i.Helper()
	i.Ready()
	status := i.Resource.ServiceStatus()
	if status.InstalledRelease != tag || status.TargetRelease != "" || status.UpgradePhase != "" {
		i.Errorf("release %q is installed, expected %q; target %q, phase %q",
			status.InstalledRelease, tag, status.TargetRelease, status.UpgradePhase)
	}
	i.runs(tag)
}

func (s suite[T]) impossibleReleases(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	old := i.tag()
	before := i.deployment()
	expect.Exists(t, s.Admin, before)
	for tag, reason := range map[string]string{
		after(old, -3): vocabulary.ReasonDowngradeNotSupported,
		after(old, 9):  vocabulary.ReasonUpgradePathInvalid,
		"latest":       vocabulary.ReasonVersionParseError,
	} {
		i.setTag(tag)
		i.database(reason, tag)
		now := i.deployment()
		expect.Exists(t, s.Admin, now)
		if diff := cmp.Diff(before.Spec, now.Spec); diff != "" {
			t.Errorf("the Deployment with release %s (-before +after):\n%s", tag, diff)
		}
	}
	i.setTag(old)
	i.installed(old)
}

// slurp upgrades over the release between two that end in .1, if the service supports that, and
// is refused the same step between two others.
func (s suite[T]) slurp(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	odd := i.tag()
	if strings.HasSuffix(odd, ".1") {
		odd = after(odd, 1)
	}
	first, next := after(odd, -1), after(odd, 1)
	i.Resource.ServiceSpec().Image.Tag = first
	i.Create()
	i.installed(first)
	i.setTag(next)
	if !s.SLURP {
		i.database(vocabulary.ReasonUpgradePathInvalid, "skips a release")
		return
	}
	i.installed(next)
	i.Condition(vocabulary.ConditionDatabaseReady, metav1.ConditionTrue, vocabulary.ReasonDatabaseSynced,
		"(upgraded "+first+" → "+next+")")
	if runs := len(s.Jobs.Runs(i.namespace(), i.name()+"-"+schema.TaskExpand)); runs != 1 {
		t.Errorf("the schema was expanded %d times", runs)
	}
	i.setTag(after(next, 3))
	i.database(vocabulary.ReasonUpgradePathInvalid, "go to "+after(next, 2)+" first")
}

// unsupported upgrades over several years with an operator that has the flag for it.
func (s suite[T]) unsupported(t *testing.T) {
	t.Parallel()
	setup := s.Program.Setup
	s.Program.Setup = func(ctx context.Context, mgr ctrl.Manager, settings startup.Config, replaced controller.Options) error {
		settings.AllowUnsupportedUpgrades = true
		return setup(ctx, mgr, settings, replaced)
	}
	i := s.converged(t, brownfield)
	far := after(i.tag(), 9)
	i.setJob(schema.TaskExpand, standin.Hang())
	i.setTag(far)
	i.database(vocabulary.ReasonExpandInProgress)
	i.inPhase(commonv1.UpgradePhaseExpanding)
	i.setJob(schema.TaskExpand, standin.Succeed())
	i.installed(far)
}

// takenBack aborts an upgrade in each phase in which that is possible, and completes the
// last one.
func (s suite[T]) takenBack(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	old, next := i.tag(), after(i.tag(), 1)
	phases := []struct {
		phase  commonv1.UpgradePhase
		reason string
		stuck  func(standin.Outcome)
	}{
		{commonv1.UpgradePhaseExpanding, vocabulary.ReasonExpandInProgress, func(o standin.Outcome) { i.setJob(schema.TaskExpand, o) }},
		{commonv1.UpgradePhaseMigrating, vocabulary.ReasonMigrateInProgress, func(o standin.Outcome) { i.setJob(schema.TaskMigrate, o) }},
		{commonv1.UpgradePhaseRollingUpdate, vocabulary.ReasonUpgradeRollingUpdate, i.setDeployment},
	}
	if s.skips(schema.TaskMigrate) {
		phases = slices.Delete(phases, 1, 2)
	}
	for _, p := range phases {
		p.stuck(standin.Hang())
		i.setTag(next)
		i.database(p.reason)
		i.inPhase(p.phase)
		i.scheduled(old)
		if p.phase == commonv1.UpgradePhaseExpanding {
			i.neitherNor(old, next)
		}
		i.setTag(old)
		// Otherwise the upgrade could continue before it is aborted.
		expect.Object(t, s.Admin, i.Resource, func() error {
			if seen := i.Resource.ServiceStatus().ObservedGeneration; seen != i.Resource.GetGeneration() {
				return fmt.Errorf("the status is about generation %d of %d", seen, i.Resource.GetGeneration())
			}
			return nil
		})
		p.stuck(standin.Succeed())
		i.installed(old)
		for _, name := range []string{schema.TaskExpand, schema.TaskMigrate, schema.TaskContract} {
			expect.Gone(t, s.Admin, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name() + "-" + name}})
		}
		if expanded := i.Resource.ServiceStatus().ExpandedRelease; expanded != next {
			t.Errorf("the schema may be expanded for %s; the status says %q", next, expanded)
		}
		i.settle()
	}
	for _, name := range []string{"db-sync", "schema-check", "db-contract"} {
		if runs := len(s.Jobs.Runs(i.namespace(), i.name()+"-"+name)); name != "db-contract" && runs != 1 || name == "db-contract" && runs != 0 {
			t.Errorf("%s ran %d times: tools of the old release do not know the schema of the new one", name, runs)
		}
	}
	i.announced("Normal "+vocabulary.EventUpgradeInitiated, len(phases))
	i.announced("Normal "+vocabulary.EventUpgradeAborted, len(phases))
	i.announced("Warning "+vocabulary.EventUpgradeTargetChanged, 1)
	i.setTag(next)
	i.installed(next)
	if expanded := i.Resource.ServiceStatus().ExpandedRelease; expanded != "" {
		t.Errorf("after the upgrade the schema is still said to be expanded for %s", expanded)
	}
}

// neitherNor sets a third tag during an upgrade, and then aborts the upgrade while one of
// its Jobs is still terminating.
func (i *Instance[T]) neitherNor(old, next string) {
	i.Helper()
	i.setTag(after(next, 1))
	i.database(vocabulary.ReasonUpgradeTargetChanged, "set image.tag to "+next+" to finish it, or to "+old+" to abort it")
	expand := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name() + "-db-expand"}}
	objects.Change(i.T, i.Admin, expand, func(job *batchv1.Job) { job.Finalizers = append(job.Finalizers, "example.com/still-running") })
	i.setTag(old)
	i.database(vocabulary.ReasonUpgradeAborting, "waiting for Job "+expand.Name+" to end")
	objects.Change(i.T, i.Admin, expand, func(job *batchv1.Job) { job.Finalizers = nil })
}

// skips reports whether the schema of the service lacks the phase with the task.
func (s suite[T]) skips(task string) bool { return slices.Contains(s.Skips, task) }

// failedPhases makes each phase of an upgrade fail once, and tries to abort in the last
// one.
func (s suite[T]) failedPhases(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	old, next := i.tag(), after(i.tag(), 1)
	const full = "no space left"
	abort := "set image.tag back to " + old + " to abort"
	for _, job := range []string{schema.TaskExpand, schema.TaskMigrate} {
		i.setJob(job, standin.Fail(full))
	}
	i.setDeployment(standin.Hang())
	i.setTag(next)
	i.database(vocabulary.ReasonExpandFailed, full, abort)
	// A change of a Job's template makes it run again immediately.
	i.correct(schema.TaskExpand, "another")
	if !s.skips(schema.TaskMigrate) {
		i.database(vocabulary.ReasonMigrateFailed, full, abort)
		i.correct(schema.TaskMigrate, "yet another")
	}
	// Until the pods are replaced, the Job of the check may verify the new password.
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment)
	last, reason := schema.TaskContract, vocabulary.ReasonContractInProgress
	if s.skips(last) {
		last, reason = schema.TaskCheck, vocabulary.ReasonSchemaCheckInProgress
	}
	i.setJob(last, standin.Hang())
	i.setDeployment(standin.Succeed())
	i.database(reason)
	i.inPhase(commonv1.UpgradePhaseContracting)
	i.setTag(old)
	i.database(vocabulary.ReasonUpgradeAbortRefused, "can no longer be aborted", "set image.tag to "+next)
	i.settle()
	i.runs(next)
	i.setTag(next)
	if !s.skips(schema.TaskContract) {
		i.setJob(last, standin.Fail(full))
		i.database(vocabulary.ReasonContractFailed, full, "no longer possible")
	}
	i.correct(last, "a last one")
	i.installed(next)
	i.settle()
	s.announcedPhases(i)
}

// announcedPhases verifies that each phase that the service has, and no other, announced
// its failure and its end once.
func (s suite[T]) announcedPhases(i *Instance[T]) {
	i.Helper()
	events := []string{
		"Normal " + vocabulary.EventUpgradeInitiated, "Normal " + vocabulary.EventExpandComplete,
		"Normal " + vocabulary.EventDeploymentRolloutComplete, "Normal " + vocabulary.EventUpgradeComplete,
		"Warning " + vocabulary.EventExpandFailed, "Warning " + vocabulary.EventUpgradeAbortRefused,
	}
	for task, announces := range map[string][]string{
		schema.TaskMigrate:  {"Normal " + vocabulary.EventMigrateComplete, "Warning " + vocabulary.EventMigrateFailed},
		schema.TaskContract: {"Warning " + vocabulary.EventContractFailed},
	} {
		if !s.skips(task) {
			events = append(events, announces...)
			continue
		}
		for _, event := range announces {
			i.announced(event, 0)
		}
		if runs := len(s.Jobs.Runs(i.namespace(), i.name()+"-"+task)); runs > 0 {
			i.Errorf("%s ran %d times, although the schema skips it", task, runs)
		}
	}
	for _, event := range events {
		i.event(event, 1)
		i.announced(event, 1)
	}
}
