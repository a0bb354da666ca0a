package schema

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/testutil/samples"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// endedJob is a Job of the instance that took ten seconds.
func endedJob(h *instance.Harbour, name string, how batchv1.JobConditionType) *batchv1.Job {
	created := metav1.Unix(1000, 0)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.Namespace, Name: h.Name + "-" + name, UID: types.UID(name + "-uid"), CreationTimestamp: created,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)},
		},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type: how, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(created.Add(10 * time.Second)),
		}}},
	}
}

var (
	total = metric.Definition{
		Name: "harbour_db_sync_total", Labels: []metric.Label{{Name: "harbour"}, metric.Namespace, {Name: "result"}},
	}
	duration = metric.Definition{
		Name: "harbour_db_sync_duration_seconds", Labels: []metric.Label{{Name: "harbour"}, metric.Namespace}, Buckets: []float64{1},
	}
)

// counting is the work of a pass over an instance whose installation and expansion have
// finished. It has its own metrics registry.
func counting(t *testing.T, funcs interceptor.Funcs) (*work, *prometheus.Registry) {
	t.Helper()
	h := instance.Brownfield()
	registry := prometheus.NewRegistry()
	counters, err := job.NewMetrics(registry, total, duration)
	if err != nil {
		t.Fatal(err)
	}
	p := instance.Pass(t, h, funcs, endedJob(h, TaskSync, batchv1.JobComplete), endedJob(h, TaskExpand, batchv1.JobFailed))
	p.SchemaJobs = counters
	database.Connection.Put(p.Slots, database.Proven(p, "url", "hash"))
	return Schema{Sync: []string{"harbour-manage", "sync"}, Contract: []string{"harbour-manage", "contract"}}.work(p), registry
}

func TestEachDatabaseJobIsCountedOnce(t *testing.T) {
	w, registry := counting(t, interceptor.Funcs{})
	for range 3 {
		if got := w.counts(t, w.synced); !got.IsDone() || len(got.Events()) > 0 {
			t.Errorf("counting turned the outcome into %+v", got)
		}
	}
	want := map[string]float64{
		"harbour_db_sync_total harbour=harbour,namespace=openstack,result=succeeded": 1,
		"harbour_db_sync_total harbour=harbour,namespace=openstack,result=failed":    1,
		"harbour_db_sync_duration_seconds harbour=harbour,namespace=openstack":       20,
	}
	if diff := cmp.Diff(want, samples.Of(t, registry)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	annotations := map[string]string{
		"forge.c5c3.io/last-db-sync-job-uid": "db-sync-uid", "forge.c5c3.io/last-db-expand-job-uid": "db-expand-uid",
	}
	if diff := cmp.Diff(annotations, w.Resource.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	w.SchemaJobs.Forget(client.ObjectKeyFromObject(w.Resource))
	if got := samples.Of(t, registry); len(got) > 0 {
		t.Errorf("series of an instance that is gone: %v", got)
	}
}

func TestAJobThatCannotBeMarkedIsCountedLater(t *testing.T) {
	refuse := true
	w, registry := counting(t, interceptor.Funcs{Patch: func(
		ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption,
	) error {
		if refuse {
			return errors.New("the API server is away")
		}
		return c.Patch(ctx, obj, patch, opts...)
	}})
	got := w.counts(t, w.synced)
	if len(got.Events()) != 1 || got.Events()[0].Reason != vocabulary.EventDBSyncMetricEmissionDeferred || got.RequeueAfter() == 0 {
		t.Errorf("got %+v, want an event and another try", got)
	}
	if counted := samples.Of(t, registry); len(counted) > 0 {
		t.Errorf("a restart would count again: %v", counted)
	}
	refuse = false
	w.counts(t, w.synced)
	if counted := samples.Of(t, registry); len(counted) != 3 {
		t.Errorf("nothing was counted later: %v", counted)
	}
}

// counts makes a pass whose step has the outcome of do.
func (w *work) counts(t *testing.T, do func(context.Context) reconcile.Outcome) reconcile.Outcome {
	t.Helper()
	before := w.uncountedJobs(t.Context())
	return w.count(t.Context(), before, do(t.Context()))
}

// synced simulates a pass that finds the schema up to date.
func (w *work) synced(context.Context) reconcile.Outcome {
	w.accepted = true
	return reconcile.Done(vocabulary.ReasonDatabaseSynced, "")
}

// The installation and its check are counted together, even if the installation finishes
// right after the pass has read it.
func TestAJobThatEndsDuringAReconcileIsCountedByTheNextOne(t *testing.T) {
	w, registry := counting(t, interceptor.Funcs{})
	for name, how := range map[string]batchv1.JobConditionType{TaskSync: batchv1.JobComplete, TaskExpand: batchv1.JobFailed} {
		if err := w.Client.Delete(t.Context(), endedJob(harbour(w), name, how)); err != nil {
			t.Fatal(err)
		}
	}
	w.counts(t, func(ctx context.Context) reconcile.Outcome {
		if err := w.Client.Create(ctx, endedJob(harbour(w), TaskSync, batchv1.JobComplete)); err != nil {
			t.Error(err)
		}
		return reconcile.Waiting(vocabulary.ReasonDBSyncInProgress, "")
	})
	w = w.work(w.Pass)
	w.counts(t, func(ctx context.Context) reconcile.Outcome {
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, w.runCheck(ctx))
	})
	if len(w.Resource.GetAnnotations()) > 0 {
		t.Errorf("the installation was counted before its check: %v", w.Resource.GetAnnotations())
	}
	check, err := w.Jobs.Find(t.Context(), w.Resource, w.Named(TaskCheck))
	if check == nil || err != nil {
		t.Fatal(check, err)
	}
	check.Status = endedJob(harbour(w), TaskCheck, batchv1.JobComplete).Status
	if err := w.Client.Status().Update(t.Context(), check); err != nil {
		t.Fatal(err)
	}
	w = w.work(w.Pass)
	w.counts(t, w.synced)
	if counted := samples.Of(t, registry); len(counted) != 2 {
		t.Errorf("the installation was not counted with its check: %v", counted)
	}
}

func TestASchemaCheckThatEndsDuringAReconcileIsCountedWithItsSync(t *testing.T) {
	w, _ := counting(t, interceptor.Funcs{})
	w.counts(t, func(ctx context.Context) reconcile.Outcome {
		if err := w.Client.Create(ctx, endedJob(harbour(w), TaskCheck, batchv1.JobComplete)); err != nil {
			t.Error(err)
		}
		return w.synced(ctx)
	})
	if got := w.Resource.GetAnnotations()["forge.c5c3.io/last-schema-check-job-uid"]; got != "schema-check-uid" {
		t.Errorf("the installation was counted without its check: %v", w.Resource.GetAnnotations())
	}
}

func TestDatabaseJobsAreCountedOnceAllOfThemAreRecordedAsFinished(t *testing.T) {
	w, registry := counting(t, interceptor.Funcs{})
	unrecorded := endedJob(harbour(w), TaskCheck, batchv1.JobComplete)
	unrecorded.Status = batchv1.JobStatus{}
	if err := w.Client.Create(t.Context(), unrecorded); err != nil {
		t.Fatal(err)
	}
	w.counts(t, w.synced)
	if len(w.Resource.GetAnnotations()) > 0 || len(samples.Of(t, registry)) > 0 {
		t.Errorf("Jobs were counted before the check: %v", w.Resource.GetAnnotations())
	}
}

func harbour(w *work) *instance.Harbour {
	h, _ := w.Resource.(*instance.Harbour)
	return h
}
