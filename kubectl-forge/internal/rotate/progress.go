package rotate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Facts are what the view of a rotation depends on.
type Facts struct {
	Keystone *keystonev1alpha1.Keystone
	Job      *batchv1.Job
	Pods     []corev1.Pod
	// News are the events about the Keystone since the rotation began.
	News []corev1.Event
	// NoEvents is set if the user may not read events.
	NoEvents bool
}

// View describes the progress of the rotation.
func (k Kind) View(f Facts) follow.View {
	view := follow.View{Title: "rotation of " + k.What}
	row := follow.Row{Name: "Job", State: "Run", Text: f.Job.Name}
	promotion := follow.Row{Name: "Promotion", State: "Wait", Text: "waits for the Job"}
	condition := meta.FindStatusCondition(f.Keystone.Status.Conditions, k.condition)
	ended, succeeded, _ := job.Ended(f.Job)
	trouble, _ := poddiag.Problem(f.Pods)
	switch {
	case succeeded:
		row.State = "Done"
		promotion, view.Done, view.Failed = k.promotion(f, condition)
	case ended:
		row.State = "Failed"
		trouble = cmp.Or(trouble, f.Job.Annotations[job.LastWordsAnnotation], "its pod no longer exists")
		view.Failed = fmt.Errorf("job %s failed: %s; the values in use stay", f.Job.Name, trouble)
	case trouble != "":
		row.Text += ": " + trouble
	}
	view.Rows = append([]follow.Row{row, promotion}, follow.ConditionRows(f.Keystone.Status.Conditions, k.condition)...)
	return view
}

// promotion describes what the operator does with the result of the Job.
func (k Kind) promotion(f Facts, condition *metav1.Condition) (row follow.Row, done bool, failed error) {
	row = follow.Row{Name: "Promotion", State: "Wait", Text: "the operator checks the result of the Job"}
	for i := range f.News {
		event := &f.News[i]
		switch {
		case event.Reason == k.promoted:
			row.State, row.Text, done = "Done", event.Message, k.isSettled(f.Keystone, condition)
		case k.secret != nil && !strings.Contains(event.Message, k.secret(f.Keystone.Name)):
			continue
		case event.Reason == k.held:
			row.State, row.Text, done = "Held", event.Message, true
		case slices.Contains(k.refusals, event.Reason):
			row.State, row.Text = "Failed", event.Message
			return row, false, errors.New(event.Message)
		}
	}
	switch {
	case condition != nil && condition.Reason == keystonev1alpha1.ReasonAdminPasswordWriteNotAllowed:
		failed = errors.New(condition.Message)
	case row.State != "Wait":
	case condition != nil && strings.Contains(condition.Message, "a rotation is held"):
		row.State, row.Text, done = "Held", condition.Message, true
	case f.NoEvents:
		row.Text, done = "you may not list events, which show when the operator promotes it: see the condition "+k.condition, true
	}
	return row, done && failed == nil, failed
}

// isSettled reports whether the promoted value has arrived everywhere.
func (k Kind) isSettled(keystone *keystonev1alpha1.Keystone, condition *metav1.Condition) bool {
	if k.settled == "" {
		return true
	}
	return condition != nil && condition.Reason == k.settled && condition.Status == metav1.ConditionTrue &&
		meta.IsStatusConditionTrue(keystone.Status.Conditions, vocabulary.ConditionReady)
}

// Baseline records events by the fields that change when one is repeated.
type Baseline map[types.UID]string

// NewBaseline records the events.
func NewBaseline(events []corev1.Event) Baseline {
	b := Baseline{}
	for i := range events {
		b[events[i].UID] = events[i].ResourceVersion
	}
	return b
}

// News returns the events that are new or were repeated since.
func (b Baseline) News(events []corev1.Event) []corev1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(event corev1.Event) bool {
		seen, known := b[event.UID]
		return known && seen == event.ResourceVersion
	})
}
