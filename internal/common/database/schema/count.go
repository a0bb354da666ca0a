package schema

import (
	"context"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// countedTasks maps the schema tasks to the annotations on the resource that record the
// UID of the last counted Job, so that a restarted operator does not count it again.
var countedTasks = map[string]string{
	TaskSync:     "forge.c5c3.io/last-db-sync-job-uid",
	TaskCheck:    "forge.c5c3.io/last-schema-check-job-uid",
	TaskExpand:   "forge.c5c3.io/last-db-expand-job-uid",
	TaskMigrate:  "forge.c5c3.io/last-db-migrate-job-uid",
	TaskContract: "forge.c5c3.io/last-db-contract-job-uid",
}

// countRetry is the delay before counting again after recording the counted Jobs failed.
const countRetry = time.Minute

// recordJobs runs work, and counts the Jobs that had finished before it and were not
// counted yet. While the check that follows db_sync is running nothing is counted, so
// that a first installation takes one write for both. A Job that finishes during the pass
// is counted by the next one, which knows what follows it, unless this pass found all
// work done. In that case all Jobs are counted together, once the Job controller has
// recorded the end of each.
func (w *work) recordJobs(ctx context.Context, work func(context.Context) reconcile.Outcome) reconcile.Outcome {
	ended, _, err := w.uncountedJobs(ctx)
	outcome := work(ctx)
	if w.checking {
		return outcome
	}
	if err == nil && len(ended) > 0 && w.accepted {
		var unrecorded bool
		if ended, unrecorded, err = w.uncountedJobs(ctx); unrecorded {
			return outcome
		}
	}
	if err == nil && len(ended) > 0 {
		err = w.markCounted(ctx, ended)
	}
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case err != nil:
		log.FromContext(ctx).Error(err, "Counting the database Jobs failed; retrying")
		return outcome.After(countRetry).WithEvent(corev1.EventTypeWarning, vocabulary.EventDBSyncMetricEmissionDeferred,
			fmt.Sprintf("Database Jobs that have ended are counted later: %v", err))
	}
	for _, live := range ended {
		w.SchemaJobs.Count(client.ObjectKeyFromObject(w.Resource), live)
	}
	return outcome
}

// uncountedJobs maps annotations to the finished Jobs that they do not record yet, and
// reports whether other uncounted Jobs have not finished.
func (w *work) uncountedJobs(ctx context.Context) (ended map[string]*batchv1.Job, others bool, err error) {
	ended = map[string]*batchv1.Job{}
	for task, annotation := range countedTasks {
		live, err := w.Jobs.Find(ctx, w.Resource, w.Named(task))
		if err != nil {
			return nil, false, err
		}
		if live == nil || w.Resource.GetAnnotations()[annotation] == string(live.UID) {
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

// markCounted writes the annotations before anything is counted: a crash in between loses
// a sample, but no Job is counted twice.
func (w *work) markCounted(ctx context.Context, ended map[string]*batchv1.Job) error {
	before, ok := w.Resource.DeepCopyObject().(client.Object)
	marked, both := w.Resource.DeepCopyObject().(client.Object)
	if !ok || !both {
		return fmt.Errorf("the copy of a %s is not an object; this is a bug in the operator", w.Kind)
	}
	annotations := maps.Clone(marked.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	for annotation, live := range ended {
		annotations[annotation] = string(live.UID)
	}
	marked.SetAnnotations(annotations)
	// The lock keeps this pass from writing a status for a spec that it has not seen.
	if err := apply.Merge(ctx, w.Client, before, marked, "recording the counted Jobs on"); err != nil {
		return err
	}
	w.Resource.SetAnnotations(annotations)
	w.Resource.SetResourceVersion(marked.GetResourceVersion())
	return nil
}
