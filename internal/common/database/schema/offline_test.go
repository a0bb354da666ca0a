package schema

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// offline is the work of a pass over an instance of 2022.2 that is to be upgraded offline
// to 2025.1.
func offline(t *testing.T, s Schema, phase commonv1.UpgradePhase) *work {
	t.Helper()
	h := instance.Brownfield()
	h.Spec.Image.Tag, h.Status.InstalledRelease = "2025.1", "2022.2"
	h.Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: "2025.1"}
	if phase != "" {
		h.Status.TargetRelease, h.Status.UpgradePhase = "2025.1", phase
	}
	w := s.work(instance.Pass(t, h, interceptor.Funcs{}))
	database.Connection.Put(w.Slots, database.Proven(w.Pass, "url", "hash"))
	w.Jobs.Events = w.Client
	return w
}

// again returns the outcome of another pass, and its work.
func (w *work) again(t *testing.T) (*work, reconcile.Outcome) {
	t.Helper()
	next := w.Schema.work(w.Pass)
	return next, next.report(next.followRelease(t.Context()))
}

func TestAnOfflineUpgradeStopsTheAPIAndThenRunsTheWholeChain(t *testing.T) {
	migrates := full
	migrates.SyncMigrates = true
	for name, c := range map[string]struct {
		schema   Schema
		commands []string
		reasons  []string
	}{
		"the data with the schema": {migrates, []string{"reach", "sync", "check"}, []string{
			vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonUpgradeStopping, vocabulary.ReasonDBSyncInProgress,
			vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
		}},
		"the data after the schema": {full, []string{"reach", "sync", "migrate", "check"}, []string{
			vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonUpgradeStopping, vocabulary.ReasonDBSyncInProgress,
			vocabulary.ReasonMigrateInProgress, vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := offline(t, c.schema, "")
			var reasons, commands []string
			var outcome reconcile.Outcome
			for range 30 {
				before := w.Status.UpgradePhase
				w, outcome = w.again(t)
				reasons = append(reasons, outcome.Reason())
				if w.proceed != (before != "" && !outcome.IsDone()) {
					t.Errorf("in phase %q later steps run: %t", before, w.proceed)
				}
				if outcome.IsDone() {
					break
				}
				commands = append(commands, completeJobs(t, w)...)
			}
			if diff := cmp.Diff([][]string{c.reasons, c.commands}, [][]string{slices.Compact(reasons), commands}); diff != "" {
				t.Errorf("reasons and commands (-want +got):\n%s", diff)
			}
			for range 2 {
				if want := upgradedMessage("2022.2", "2025.1"); outcome.Message() != want || w.Status.InstalledRelease != "2025.1" {
					t.Errorf("got %q with release %s, want %q", outcome.Message(), w.Status.InstalledRelease, want)
				}
				w, outcome = w.again(t)
			}
		})
	}
}

// job returns a Job of the instance that runs the image tag and has not ended.
func jobOf(w *work, name, tag string) *batchv1.Job {
	job := endedJob(harbour(w), name, "")
	job.Labels, job.Status = w.Labels(w.Resource.GetName()), batchv1.JobStatus{}
	job.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ghcr.io/c5c3/harbour:" + tag}}
	return job
}

func TestAnOfflineMigrationWaitsForEverythingThatUsesTheDatabase(t *testing.T) {
	meta := func(w *work, name string) metav1.ObjectMeta {
		m := w.Meta(name)
		m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.Resource, instance.Kind)}
		return m
	}
	for what, found := range map[string]func(w *work) client.Object{
		"Deployment harbour": func(w *work) client.Object {
			return &appsv1.Deployment{ObjectMeta: meta(w, "harbour"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(1))}}
		},
		"pod harbour-1": func(w *work) client.Object { return &corev1.Pod{ObjectMeta: meta(w, "harbour-1")} },
		"pod harbour-task-1": func(w *work) client.Object {
			pod := &corev1.Pod{ObjectMeta: meta(w, "harbour-task-1")}
			pod.Labels = w.TaskLabels("harbour", "task")
			pod.Spec.Containers = []corev1.Container{{Image: "ghcr.io/c5c3/harbour:2022.2"}}
			return pod
		},
		"CronJob harbour-flush": func(w *work) client.Object { return &batchv1.CronJob{ObjectMeta: meta(w, "harbour-flush")} },
		"Job harbour-old":       func(w *work) client.Object { return jobOf(w, "old", "2022.2") },
		"Job harbour-flush-1": func(w *work) client.Object {
			job := jobOf(w, "flush-1", "")
			job.OwnerReferences[0].Kind = "CronJob"
			return job
		},
	} {
		for phase, reason := range map[commonv1.UpgradePhase]string{
			commonv1.UpgradePhaseStopping: vocabulary.ReasonUpgradeStopping, commonv1.UpgradePhaseSyncing: vocabulary.ReasonDBSyncInProgress,
		} {
			w := offline(t, full, phase)
			if err := w.Client.Create(t.Context(), found(w)); err != nil {
				t.Fatal(err)
			}
			next, outcome := w.again(t)
			if outcome.Reason() != reason || !strings.Contains(outcome.Message(), what+" has stopped") || next.Status.UpgradePhase != phase {
				t.Errorf("%s in phase %s: got %s: %s and phase %s",
					what, phase, outcome.Reason(), outcome.Message(), next.Status.UpgradePhase)
			}
			if live, err := w.Jobs.Find(t.Context(), w.Resource, w.Named(TaskSync)); live != nil || err != nil {
				t.Errorf("%s in phase %s: the migration has begun, %v", what, phase, err)
			}
		}
	}
}

func TestSuspendedAndFinishedWorkDoesNotDelayAnOfflineUpgrade(t *testing.T) {
	w := offline(t, full, commonv1.UpgradePhaseStopping)
	suspended := &batchv1.CronJob{ObjectMeta: w.Meta("harbour-flush"), Spec: batchv1.CronJobSpec{Suspend: ptr.To(true)}}
	stopped := &appsv1.Deployment{ObjectMeta: w.Meta("harbour"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(0))}}
	for _, obj := range []client.Object{suspended, stopped, endedJob(harbour(w), "old", batchv1.JobFailed), jobOf(w, "new", "2025.1")} {
		if err := w.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	if w, outcome := w.again(t); w.Status.UpgradePhase != commonv1.UpgradePhaseSyncing {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}

func TestTheHoldAnnotationPausesAnOfflineUpgrade(t *testing.T) {
	w := offline(t, full, commonv1.UpgradePhaseStopping)
	held := w.Resource.GetAnnotations()
	held[commonv1.AnnotationHoldUpgrade] = "2025.1"
	w, outcome := w.again(t)
	if outcome.Reason() != vocabulary.ReasonUpgradeHeld || !strings.Contains(outcome.Message(), commonv1.AnnotationHoldUpgrade) {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	held[commonv1.AnnotationHoldUpgrade] = "2024.2"
	if w, _ = w.again(t); w.Status.UpgradePhase != commonv1.UpgradePhaseSyncing {
		t.Errorf("held for another tag, it is in phase %s", w.Status.UpgradePhase)
	}
}

func TestTheMessageSaysSinceWhenTheAPIIsDown(t *testing.T) {
	w := offline(t, full, commonv1.UpgradePhaseSyncing)
	w.Status.DownSince = ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0)))
	const since = "the API has been down since 2023-11-14T22:13:20Z"
	if _, outcome := w.again(t); !strings.HasSuffix(outcome.Message(), since) {
		t.Errorf("while the database is migrated: %s", outcome.Message())
	}
	w.Spec.Image.Tag = "2022.2"
	_, outcome := w.again(t)
	if outcome.Reason() != vocabulary.ReasonUpgradeAbortRefused || !strings.HasSuffix(outcome.Message(), since) {
		t.Errorf("when it is to be aborted: %s: %s", outcome.Reason(), outcome.Message())
	}
}

func TestAnOfflineUpgradeInPhaseStoppingIsAbortedWithoutAJob(t *testing.T) {
	w := offline(t, full, commonv1.UpgradePhaseStopping)
	before := endedJob(harbour(w), TaskContract, batchv1.JobComplete)
	if err := w.Client.Create(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	w.Spec.Image.Tag = "2022.2"
	next, _ := w.again(t)
	if next.Status.UpgradePhase != "" || next.Status.TargetRelease != "" || len(next.recorded) != 1 {
		t.Errorf("the status is %+v with events %v", next.Status, next.recorded)
	}
	if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(before), before); err != nil {
		t.Errorf("the Job of an earlier upgrade: %v", err)
	}
}

func TestALostPhaseDoesNotAllowRollbackOfAnOfflineMigration(t *testing.T) {
	w := offline(t, full, commonv1.UpgradePhaseSyncing)
	w, _ = w.again(t)
	w.Status.TargetRelease, w.Status.UpgradePhase, w.Spec.Image.Tag = "", "", "2022.2"
	if _, outcome := w.again(t); outcome.Reason() != vocabulary.ReasonUpgradeAbortRefused {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}

func TestADatabaseWithANewerSchemaThanTheImageIsReported(t *testing.T) {
	const output = "alembic.util.exc.CommandError: Can't locate revision identified by '742c857f1dfb'"
	for name, c := range map[string]struct {
		installed, task string
	}{
		"installing":  {"", TaskSync},
		"checking":    {"2025.2", TaskCheck},
		"patching":    {"2025.2-old", TaskSync},
		"upgrading":   {"2025.1", TaskExpand},
		"not at once": {"2025.1", TaskExpand},
	} {
		h := instance.Brownfield()
		h.Status.InstalledRelease = c.installed
		w := full.work(instance.Pass(t, h, interceptor.Funcs{}))
		database.Connection.Put(w.Slots, database.Proven(w.Pass, "url", "hash"))
		w.Jobs.Events = w.Client
		for range 4 {
			w, _ = w.again(t)
			failJob(t, w, c.task, output, name != "not at once")
		}
		_, outcome := w.again(t)
		if outcome.Reason() != vocabulary.ReasonDatabaseNewerThanImage || w.proceed {
			t.Errorf("%s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
		for _, says := range []string{
			"a later release than image.tag 2025.2", "set image.tag to that release", "restore a backup", "742c857f1dfb",
		} {
			if !strings.Contains(outcome.Message(), says) {
				t.Errorf("%s: the message lacks %q: %s", name, says, outcome.Message())
			}
		}
	}
}

// failJob lets the running Jobs succeed except the named one, whose container fails with the
// output; the Job itself only if it is over.
func failJob(t *testing.T, w *work, task, output string, over bool) {
	t.Helper()
	live, err := w.Jobs.Find(t.Context(), w.Resource, w.Named(task))
	if err != nil {
		t.Fatal(err)
	}
	if live == nil {
		completeJobs(t, w)
		return
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: live.Namespace, Name: live.Name + "-pod", Labels: map[string]string{batchv1.JobNameLabel: live.Name},
		},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: task, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: output},
		}}}},
	}
	if err := w.Client.Create(t.Context(), pod); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	if over {
		live.Status = endedJob(harbour(w), task, batchv1.JobFailed).Status
		live.Status.Conditions[0].LastTransitionTime = metav1.Now()
		if err := w.Client.Status().Update(t.Context(), live); err != nil {
			t.Fatal(err)
		}
	}
}
