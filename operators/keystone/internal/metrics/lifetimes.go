package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/metric"
	cron "github.com/c5c3/forge/internal/common/schedule"
)

// Lifetimes are the metrics of keys and passwords that age, by the value of their label
// key_type.
type Lifetimes struct {
	// Age is since when one is in use, Due when its successor must be made, and Held since
	// when a finished successor is held back.
	Age, Due, Held *metric.Times
}

// NewLifetimes registers the metrics, or reuses those of an earlier controller in the
// process.
func NewLifetimes(registerer prometheus.Registerer) (*Lifetimes, error) {
	var problems []error
	times := func(d metric.Definition, value func(at, now time.Time) float64) *metric.Times {
		made, err := metric.NewTimes(registerer, d, value)
		problems = append(problems, err)
		return made
	}
	l := &Lifetimes{
		Age:  times(KeyRotationAge, metric.Age),
		Due:  times(KeyRotationDue, metric.Timestamp),
		Held: times(KeyRotationHeld, metric.Age),
	}
	return l, errors.Join(problems...)
}

// SetDue records when the CronJob must create a successor of the key or password in use:
// at its first activation after that one was promoted. Activations before the CronJob was
// created or last changed do not count. A CronJob that is suspended, or whose schedule
// never fires, is never due.
func (l *Lifetimes) SetDue(k types.NamespacedName, keyType string, cronJob *batchv1.CronJob) {
	since, known := l.Age.Get(k, keyType)
	if changed := changedAt(cronJob); changed.After(since) {
		since = changed
	}
	// CronJobs use the time zone of the control plane, which is UTC nearly everywhere.
	due, err := cron.Next(cronJob.Spec.Schedule, since.UTC())
	if !known || err != nil || ptr.Deref(cronJob.Spec.Suspend, false) {
		l.Due.Unset(k, keyType)
		return
	}
	l.Due.Set(k, keyType, due)
}

// changedAt returns when the operator last changed the object's spec or metadata.
func changedAt(obj client.Object) time.Time {
	at := obj.GetCreationTimestamp().Time
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager == apply.FieldManager && entry.Subresource == "" && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// EndRotation removes everything about a key or password that is no longer rotated.
func (l *Lifetimes) EndRotation(k types.NamespacedName, keyType string) {
	for _, times := range []*metric.Times{l.Age, l.Due, l.Held} {
		times.Unset(k, keyType)
	}
}

// Forget removes everything about a Keystone that is gone.
func (l *Lifetimes) Forget(k types.NamespacedName) {
	for _, times := range []*metric.Times{l.Age, l.Due, l.Held} {
		times.Forget(k)
	}
}
