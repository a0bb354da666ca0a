package job

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/poddiag"
)

// Reasons of the events in which the Job controller reports on pods
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/controller_utils.go).
const (
	eventFailedCreate     = "FailedCreate"
	eventSuccessfulCreate = "SuccessfulCreate"
)

// eventDelay is how much later than the status of a Job the event may arrive that
// explains why it has no pod.
const eventDelay = 5 * time.Second

// obstacle is what keeps a running Job from finishing.
type obstacle struct {
	// text is "" if there is none.
	text string
	// lasting is true if no retry of the Job can fix it.
	lasting bool
	// again is the delay before the next check, zero if a watch reports a change.
	again time.Duration
}

// obstacle examines the Job's pods and, if the Job should have one and has none, its
// events. The names are those of the operator's own containers.
func (r *Runner) obstacle(ctx context.Context, job *batchv1.Job, names ...string) (obstacle, error) {
	list, err := labelled(ctx, r.Client, job)
	if err != nil {
		return obstacle{}, err
	}
	if len(list) == 0 && r.Events != nil && lacksPod(job) {
		return r.refusal(ctx, job)
	}
	text, imagePull := poddiag.Problem(list, r.Hidden...)
	if beside := poddiag.Beside(list, names...); beside != "" {
		// The pod of a container that has failed does not end, so it is not tried again.
		text = strings.TrimPrefix(text+"; "+beside+", so the Job does not end: "+leaveOut, "; ")
	}
	if text != "" {
		return obstacle{text: text, lasting: imagePull}, nil
	}
	text, again := poddiag.Unconfirmed(list, r.now())
	return obstacle{text: text, again: again}, nil
}

// lacksPod reports whether the Job controller has started the Job but records no pod that
// is running or has terminated. It records the start together with the pods that it could
// create.
func lacksPod(job *batchv1.Job) bool {
	status := job.Status
	uncounted := status.UncountedTerminatedPods
	return status.StartTime != nil && !ptr.Deref(job.Spec.Suspend, false) &&
		status.Active == 0 && status.Failed == 0 && status.Succeeded == 0 && ptr.Deref(status.Terminating, 0) == 0 &&
		(uncounted == nil || len(uncounted.Succeeded)+len(uncounted.Failed) == 0)
}

// refusal explains why the Job has no pod. The Job controller reports that only in an
// event, which it writes in addition to the status.
func (r *Runner) refusal(ctx context.Context, job *batchv1.Job) (obstacle, error) {
	var list corev1.EventList
	err := r.Events.List(ctx, &list, client.InNamespace(job.Namespace),
		client.MatchingFields{"involvedObject.uid": string(job.UID)})
	if err != nil {
		return obstacle{}, fmt.Errorf("listing the events of Job %s, which has no pod: %w", job.Name, err)
	}
	var last *corev1.Event
	for i := range list.Items {
		event := &list.Items[i]
		aboutPods := event.Reason == eventFailedCreate || event.Reason == eventSuccessfulCreate
		if aboutPods && (last == nil || !event.LastTimestamp.Before(&last.LastTimestamp)) {
			last = event
		}
	}
	if last == nil || last.Reason != eventFailedCreate {
		return obstacle{again: eventDelay}, nil
	}
	return obstacle{text: poddiag.Refusal(last.Message), lasting: true}, nil
}
