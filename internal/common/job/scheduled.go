package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/poddiag"
)

// LastWordsAnnotation on a Job of a CronJob quotes the last output of one of its pods.
// When a Job fails, the Job controller deletes pods that restart in place.
const LastWordsAnnotation = "forge.c5c3.io/last-words"

// LastRun describes what is wrong with the Jobs of a CronJob.
type LastRun struct {
	// Job is the name of the affected Job, "" if nothing is wrong.
	Job string
	// Failed is true if the Job failed permanently, and false while it cannot start.
	Failed bool
	// Text is the reason.
	Text string
	// Again is the delay before the cause of a missing pod is checked again, zero if a
	// watch reports it.
	Again time.Duration
}

// LastRun returns what is wrong with the CronJob's Jobs since the last one that
// succeeded. The labels select the Jobs, as in the cache, and container is the operator's
// own one in their pods. A Job that is still retrying counts if no retry can help.
func (r *Runner) LastRun(ctx context.Context, cronJob client.ObjectKey, container string, labels map[string]string) (LastRun, error) {
	runs, err := r.runsOf(ctx, cronJob, labels)
	if err != nil {
		return LastRun{}, err
	}
	var again time.Duration
	for i := range runs {
		run := &runs[i]
		ended, succeeded, _ := Ended(run)
		if !ended {
			if succeeded, err = r.settle(ctx, run, container); err != nil {
				return LastRun{}, err
			}
		}
		switch {
		case succeeded:
			return LastRun{Again: again}, r.clear(ctx, runs[i+1:])
		case ended:
			text, err := r.lastWords(ctx, run)
			return LastRun{Job: run.Name, Failed: true, Text: text, Again: again}, err
		}
		found, err := r.obstacle(ctx, run, container)
		if err == nil && !found.lasting {
			err = r.remember(ctx, run, found.text)
		}
		if err != nil || found.lasting {
			return LastRun{Job: run.Name, Text: found.text}, err
		}
		again = cmp.Or(again, found.again)
	}
	return LastRun{Again: again}, nil
}

// runsOf returns the Jobs of the CronJob, newest first, without those that are being
// deleted.
func (r *Runner) runsOf(ctx context.Context, cronJob client.ObjectKey, labels map[string]string) ([]batchv1.Job, error) {
	var list batchv1.JobList
	if err := r.Client.List(ctx, &list, client.InNamespace(cronJob.Namespace), client.MatchingLabels(labels)); err != nil {
		return nil, fmt.Errorf("listing the Jobs of CronJob %s: %w", cronJob.Name, err)
	}
	runs := slices.DeleteFunc(list.Items, func(run batchv1.Job) bool {
		controller := metav1.GetControllerOf(&run)
		return !run.DeletionTimestamp.IsZero() || controller == nil || controller.Kind != "CronJob" || controller.Name != cronJob.Name
	})
	slices.SortFunc(runs, func(a, b batchv1.Job) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	return runs, nil
}

// remember records the output of the Job's pod. It makes no request if the text is
// recorded already.
func (r *Runner) remember(ctx context.Context, run *batchv1.Job, text string) error {
	if text == "" || run.Annotations[LastWordsAnnotation] == text {
		return nil
	}
	changed := run.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, LastWordsAnnotation, text)
	return client.IgnoreNotFound(apply.MergeUnlocked(ctx, r.Client, run, changed, "recording what its pod said on"))
}

// lastWords returns the output of the failed Job's newest pod, or what was recorded of
// it.
func (r *Runner) lastWords(ctx context.Context, run *batchv1.Job) (string, error) {
	list, err := labelled(ctx, r.Client, run)
	if err != nil {
		return "", err
	}
	text, _ := poddiag.Problem(list, r.Hidden...)
	text = cmp.Or(text, run.Annotations[LastWordsAnnotation])
	if condition := find(run, batchv1.JobFailed); text == "" && condition != nil {
		text = condition.Message
	}
	return text, nil
}
