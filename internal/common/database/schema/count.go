package schema

import (
	"context"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
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

// uncounted are the Jobs that are not counted yet.
type uncounted struct {
	// ended maps annotations to the finished Jobs that they do not record yet.
	ended map[string]*batchv1.Job
	// others reports whether there are Jobs that have not finished.
	others bool
	err    error
}

// recordJobs counts the Jobs that had finished before the work of the pass and were not
// counted then. While the check that follows db_sync is running nothing is counted, so
// that a first installation takes one write for both. A Job that finishes during the pass
// is counted by the next one, which knows what follows it, unless this pass found all
// work done. In that case all Jobs are counted together, once the Job controller has
// recorded the end of each.
func (w *work) recordJobs(ctx context.Context, jobs uncounted) error {
	if w.checking {
		return nil
	}
	if w.accepted && len(jobs.ended) > 0 {
		if jobs = w.uncountedJobs(ctx); jobs.others {
			return nil
		}
	}
	if len(jobs.ended) == 0 {
		return jobs.err
	}
	if err := w.markCounted(ctx, jobs.ended); err != nil {
		return err
	}
	for _, live := range jobs.ended {
		w.SchemaJobs.Count(client.ObjectKeyFromObject(w.Resource), live)
	}
	return nil
}

func (w *work) uncountedJobs(ctx context.Context) uncounted {
	found := uncounted{ended: map[string]*batchv1.Job{}}
	for task, annotation := range countedTasks {
		live, err := w.Jobs.Find(ctx, w.Resource, w.Named(task))
		if err != nil {
			return uncounted{err: err}
		}
		if live == nil || w.Resource.GetAnnotations()[annotation] == string(live.UID) {
			continue
		}
		if over, _, _ := job.Ended(live); over {
			found.ended[annotation] = live
		} else {
			found.others = true
		}
	}
	return found
}

// markCounted writes the annotations before anything is counted: a crash in between loses
// a sample, but no Job is counted twice.
func (w *work) markCounted(ctx context.Context, ended map[string]*batchv1.Job) error {
	before, marked := apply.Copy(w.Resource), apply.Copy(w.Resource)
	annotations := map[string]string{}
	maps.Copy(annotations, marked.GetAnnotations())
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
