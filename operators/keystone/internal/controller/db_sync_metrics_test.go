package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// endedJob is a Job of the Keystone that took ten seconds.
func endedJob(k *keystonev1alpha1.Keystone, name string, how batchv1.JobConditionType) *batchv1.Job {
	created := metav1.Unix(1000, 0)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.Namespace, Name: k.Name + "-" + name, UID: types.UID(name + "-uid"), CreationTimestamp: created,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(k, keystonev1alpha1.GroupVersion.WithKind("Keystone"))},
		},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type: how, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(created.Add(10 * time.Second)),
		}}},
	}
}

// countingScope is a pass over a Keystone whose installation and expansion
// ended, with metrics of its own.
func countingScope(t *testing.T, funcs interceptor.Funcs) (*scope, *prometheus.Registry) {
	t.Helper()
	k := minimal()
	registry := prometheus.NewRegistry()
	counters, err := newDBSyncMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithInterceptorFuncs(funcs).WithObjects(
		k, endedJob(k, taskSync, batchv1.JobComplete), endedJob(k, taskExpand, batchv1.JobFailed)).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	s := scopeOf(k)
	s.Client, s.Jobs, s.dbSyncs = c, &job.Runner{Client: c, Scheme: Scheme()}, counters
	return s, registry
}

// samples maps each series of the registry to its value, a histogram's to the
// sum of its observations.
func samples(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make([]string, 0, len(metric.GetLabel()))
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			value := metric.GetCounter().GetValue()
			if family.GetType() == dto.MetricType_HISTOGRAM {
				value = metric.GetHistogram().GetSampleSum()
			}
			got[family.GetName()+" "+strings.Join(labels, ",")] = value
		}
	}
	return got
}

func TestEachDatabaseJobIsCountedOnce(t *testing.T) {
	s, registry := countingScope(t, interceptor.Funcs{})
	for range 3 {
		if got := s.recordDatabaseJobs(t.Context(), synced); !got.IsDone() || len(got.Events()) > 0 {
			t.Errorf("counting turned the outcome into %+v", got)
		}
	}
	want := map[string]float64{
		"keystone_operator_db_sync_total keystone=keystone,namespace=openstack,result=succeeded": 1,
		"keystone_operator_db_sync_total keystone=keystone,namespace=openstack,result=failed":    1,
		"keystone_operator_db_sync_duration_seconds keystone=keystone,namespace=openstack":       20,
	}
	if diff := cmp.Diff(want, samples(t, registry)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	annotations := map[string]string{
		"forge.c5c3.io/last-db-sync-job-uid": "db-sync-uid", "forge.c5c3.io/last-db-expand-job-uid": "db-expand-uid",
	}
	if diff := cmp.Diff(annotations, s.keystone.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	s.dbSyncs.forget(client.ObjectKeyFromObject(s.keystone))
	if got := samples(t, registry); len(got) > 0 {
		t.Errorf("series of a Keystone that is gone: %v", got)
	}
}

func TestAJobThatCannotBeMarkedIsCountedLater(t *testing.T) {
	refuse := true
	s, registry := countingScope(t, interceptor.Funcs{Patch: func(
		ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption,
	) error {
		if refuse {
			return errors.New("the API server is away")
		}
		return c.Patch(ctx, obj, patch, opts...)
	}})
	got := s.recordDatabaseJobs(t.Context(), synced)
	if len(got.Events()) != 1 || got.Events()[0].Reason != keystonev1alpha1.EventDBSyncMetricEmissionDeferred || got.RequeueAfter() == 0 {
		t.Errorf("got %+v, want an event and another try", got)
	}
	if counted := samples(t, registry); len(counted) > 0 {
		t.Errorf("a restart would count again: %v", counted)
	}
	refuse = false
	s.recordDatabaseJobs(t.Context(), synced)
	if counted := samples(t, registry); len(counted) != 3 {
		t.Errorf("nothing was counted later: %v", counted)
	}
}

// synced is the work of a pass that finds the schema in place.
func synced(context.Context) reconcile.Outcome {
	return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
}

// The installation and its check are counted together, also when the
// installation ends right after the pass has looked at it.
func TestAJobThatEndsInTheMiddleOfAPassIsCountedByTheNext(t *testing.T) {
	s, registry := countingScope(t, interceptor.Funcs{})
	for name, how := range map[string]batchv1.JobConditionType{taskSync: batchv1.JobComplete, taskExpand: batchv1.JobFailed} {
		if err := s.Client.Delete(t.Context(), endedJob(s.keystone, name, how)); err != nil {
			t.Fatal(err)
		}
	}
	s.recordDatabaseJobs(t.Context(), func(ctx context.Context) reconcile.Outcome {
		if err := s.Client.Create(ctx, endedJob(s.keystone, taskSync, batchv1.JobComplete)); err != nil {
			t.Error(err)
		}
		return reconcile.Waiting(keystonev1alpha1.ReasonDBSyncInProgress, "")
	})
	s.recordDatabaseJobs(t.Context(), func(context.Context) reconcile.Outcome {
		return reconcile.Waiting(keystonev1alpha1.ReasonSchemaCheckInProgress, "")
	})
	if len(s.keystone.Annotations) > 0 {
		t.Errorf("the installation was counted before its check: %v", s.keystone.Annotations)
	}
	s.recordDatabaseJobs(t.Context(), synced)
	if counted := samples(t, registry); len(counted) != 2 {
		t.Errorf("the installation was not counted with its check: %v", counted)
	}
}

func TestACheckThatEndsInTheMiddleOfThePassThatIsDoneIsCountedWithItsInstallation(t *testing.T) {
	s, _ := countingScope(t, interceptor.Funcs{})
	s.recordDatabaseJobs(t.Context(), func(ctx context.Context) reconcile.Outcome {
		if err := s.Client.Create(ctx, endedJob(s.keystone, taskSchemaCheck, batchv1.JobComplete)); err != nil {
			t.Error(err)
		}
		return synced(ctx)
	})
	if got := s.keystone.Annotations["forge.c5c3.io/last-schema-check-job-uid"]; got != "schema-check-uid" {
		t.Errorf("the installation was counted without its check: %v", s.keystone.Annotations)
	}
}

func TestJobsAreCountedTogetherWhenTheJobControllerHasRecordedTheEndOfAll(t *testing.T) {
	s, registry := countingScope(t, interceptor.Funcs{})
	unrecorded := endedJob(s.keystone, taskSchemaCheck, batchv1.JobComplete)
	unrecorded.Status = batchv1.JobStatus{}
	if err := s.Client.Create(t.Context(), unrecorded); err != nil {
		t.Fatal(err)
	}
	s.recordDatabaseJobs(t.Context(), synced)
	if len(s.keystone.Annotations) > 0 || len(samples(t, registry)) > 0 {
		t.Errorf("Jobs were counted before the check: %v", s.keystone.Annotations)
	}
}
