package controller

import (
	"context"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
)

// countedTasks maps the tasks on the schema to the annotations of the Keystone
// that name the last Job counted for each, so that a restarted operator does not
// count it again.
var countedTasks = map[string]string{
	taskSync:        "forge.c5c3.io/last-db-sync-job-uid",
	taskSchemaCheck: "forge.c5c3.io/last-schema-check-job-uid",
	taskExpand:      "forge.c5c3.io/last-db-expand-job-uid",
	taskMigrate:     "forge.c5c3.io/last-db-migrate-job-uid",
	taskContract:    "forge.c5c3.io/last-db-contract-job-uid",
}

// countRetry is when Jobs are counted that could not be marked as counted.
const countRetry = time.Minute

// dbSyncMetrics count the Jobs that worked on the schema of a Keystone.
type dbSyncMetrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// newDBSyncMetrics registers `keystone_operator_db_sync_total` and
// `keystone_operator_db_sync_duration_seconds`, or finds those of an earlier
// controller of the process.
func newDBSyncMetrics(registerer prometheus.Registerer) (*dbSyncMetrics, error) {
	m := &dbSyncMetrics{}
	var err error
	if m.total, err = metric.Register(registerer, metrics.DBSyncs.NewCounter()); err != nil {
		return nil, err
	}
	m.duration, err = metric.Register(registerer, metrics.DBSyncDuration.NewHistogram())
	return m, err
}

func (m *dbSyncMetrics) count(k types.NamespacedName, ended *batchv1.Job) {
	result := "failed"
	_, succeeded, at := job.Ended(ended)
	if succeeded {
		result = "succeeded"
	}
	m.total.WithLabelValues(k.Name, k.Namespace, result).Inc()
	m.duration.WithLabelValues(k.Name, k.Namespace).Observe(at.Sub(ended.CreationTimestamp.Time).Seconds())
}

func (m *dbSyncMetrics) forget(k types.NamespacedName) {
	labels := prometheus.Labels{"keystone": k.Name, "namespace": k.Namespace}
	m.total.DeletePartialMatch(labels)
	m.duration.DeletePartialMatch(labels)
}

// recordDatabaseJobs does the work on the schema and counts the Jobs that had
// ended before and were not counted. It waits for the check that follows db_sync,
// so that a first installation costs one write for both. A Job that ends in the
// middle of the pass is left to the next one, which knows what follows it, unless
// this pass has found all work done. So are all as long as the Job controller has not
// recorded the end of one whose work is done.
func (s *scope) recordDatabaseJobs(ctx context.Context, work func(context.Context) reconcile.Outcome) reconcile.Outcome {
	ended, _, err := s.uncountedJobs(ctx)
	outcome := work(ctx)
	if outcome.Reason() == keystonev1alpha1.ReasonSchemaCheckInProgress {
		return outcome
	}
	if err == nil && len(ended) > 0 && outcome.IsDone() {
		var unrecorded bool
		if ended, unrecorded, err = s.uncountedJobs(ctx); unrecorded {
			return outcome
		}
	}
	if err == nil && len(ended) > 0 {
		err = s.markCounted(ctx, ended)
	}
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Failed(outcome.Reason(), err)
	case err != nil:
		log.FromContext(ctx).Error(err, "Counting the database Jobs failed; retrying")
		return outcome.After(countRetry).WithEvent(corev1.EventTypeWarning, keystonev1alpha1.EventDBSyncMetricEmissionDeferred,
			fmt.Sprintf("Database Jobs that have ended are counted later: %v", err))
	}
	for _, live := range ended {
		s.dbSyncs.count(client.ObjectKeyFromObject(s.keystone), live)
	}
	return outcome
}

// uncountedJobs maps annotations to the ended Jobs that they do not name yet, and
// reports whether there are others that have not ended.
func (s *scope) uncountedJobs(ctx context.Context) (ended map[string]*batchv1.Job, others bool, err error) {
	ended = map[string]*batchv1.Job{}
	for task, annotation := range countedTasks {
		live, err := s.Jobs.Find(ctx, s.keystone, s.Named(task))
		if err != nil {
			return nil, false, err
		}
		if live == nil || s.keystone.Annotations[annotation] == string(live.UID) {
			continue
		}
		if over, _, _ := job.Ended(live); over {
			ended[annotation] = live
		} else {
			others = true
		}
	}
	return ended, others, nil
}

// markCounted writes the annotations before anything is counted: a crash in
// between loses a sample and never counts one twice.
func (s *scope) markCounted(ctx context.Context, ended map[string]*batchv1.Job) error {
	marked := s.keystone.DeepCopy()
	annotations := maps.Clone(marked.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	for annotation, live := range ended {
		annotations[annotation] = string(live.UID)
	}
	marked.Annotations = annotations
	// The lock keeps this pass from writing a status over a spec it has not seen.
	patch := client.MergeFromWithOptions(s.keystone.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := s.Client.Patch(ctx, marked, patch); err != nil {
		return fmt.Errorf("annotating the Keystone with the Jobs that were counted: %w", err)
	}
	s.keystone.Annotations, s.keystone.ResourceVersion = annotations, marked.ResourceVersion
	return nil
}
