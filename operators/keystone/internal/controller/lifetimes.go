package controller

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
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
)

// lifetimes are the metrics of keys and passwords that age.
type lifetimes struct {
	age, due, held *metric.Times
}

// newLifetimes registers the metrics, or reuses those of an earlier controller in the
// process.
func newLifetimes(registerer prometheus.Registerer) (*lifetimes, error) {
	var problems []error
	times := func(d metric.Definition, value func(at, now time.Time) float64) *metric.Times {
		made, err := metric.NewTimes(registerer, d, value)
		problems = append(problems, err)
		return made
	}
	l := &lifetimes{
		age:  times(metrics.KeyRotationAge, metric.Age),
		due:  times(metrics.KeyRotationDue, metric.Timestamp),
		held: times(metrics.KeyRotationHeld, metric.Age),
	}
	return l, errors.Join(problems...)
}

// setDue records when the CronJob must create a successor of the key or password in use:
// at its first activation after that one was promoted. Activations before the CronJob was
// created or last changed do not count. A CronJob that is suspended, or whose schedule
// never fires, is never due.
func (l *lifetimes) setDue(k types.NamespacedName, keyType string, cronJob *batchv1.CronJob) {
	since, known := l.age.Get(k, keyType)
	if changed := changedAt(cronJob); changed.After(since) {
		since = changed
	}
	// CronJobs use the time zone of the control plane, which is UTC nearly everywhere.
	due, err := cron.Next(cronJob.Spec.Schedule, since.UTC())
	if !known || err != nil || ptr.Deref(cronJob.Spec.Suspend, false) {
		l.due.Unset(k, keyType)
		return
	}
	l.due.Set(k, keyType, due)
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

func (l *lifetimes) endRotation(k types.NamespacedName, keyType string) {
	for _, times := range []*metric.Times{l.age, l.due, l.held} {
		times.Unset(k, keyType)
	}
}

func (l *lifetimes) forget(k types.NamespacedName) {
	for _, times := range []*metric.Times{l.age, l.due, l.held} {
		times.Forget(k)
	}
}
