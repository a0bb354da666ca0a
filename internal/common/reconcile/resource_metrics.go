package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// scrapeTimeout bounds the reading of all resources of a kind from the cache.
const scrapeTimeout = 5 * time.Second

// Conditioned is a resource with conditions.
type Conditioned interface {
	client.Object
	// GetConditions returns the status conditions.
	GetConditions() []metav1.Condition
}

// Sample is one series of a [Gauge] at a scrape.
type Sample struct {
	// Labels are the label values after namespace and name.
	Labels []string
	// Value is the series' value.
	Value float64
}

// Gauge is a metric that is read from each resource at every scrape. The first labels of
// its definition are the namespace and the name.
type Gauge[T Conditioned] struct {
	metric.Definition
	// Read returns the samples of a single resource. The resource belongs to the cache
	// and must not be changed.
	Read func(resource T, now time.Time) []Sample
}

// described is a definition with its description for the registry.
type described struct {
	metric.Definition
	desc *prometheus.Desc
}

func describe(d metric.Definition, constant prometheus.Labels) described {
	return described{d, d.Desc(constant)}
}

// sample returns a series at a scrape.
func (d described) sample(scrape *metric.Scrape, value float64, labels ...string) prometheus.Metric {
	return scrape.Gauge(d.Definition, d.desc, value, labels...)
}

// resourceExporter exports all resources of a kind. It reads them from the cache at each
// scrape, so that it holds no state and no series outlives its resource.
type resourceExporter[T Conditioned] struct {
	kind                    string
	conditions, transitions described
	gauges                  []Gauge[T]
	// described are the definitions of the gauges.
	described []described
	reader    client.Reader
	newList   func() client.ObjectList
	registry  prometheus.Registerer
	now       func() time.Time
}

var (
	_ prometheus.Collector           = (*resourceExporter[Conditioned])(nil)
	_ manager.LeaderElectionRunnable = (*resourceExporter[Conditioned])(nil)
)

// ExportResources exports every resource of a kind while the manager runs and leads:
// `<prefix>_resource_condition` with a series per condition and status (1 for the current
// status, 0 for the others), the time of the last transition, and the series of the
// gauges.
func ExportResources[T Conditioned](mgr ctrl.Manager, prefix, kind string, newList func() client.ObjectList, gauges ...Gauge[T]) error {
	if err := mgr.Add(newResourceExporter(mgr.GetClient(), metrics.Registry, prefix, kind, newList, gauges...)); err != nil {
		return fmt.Errorf("adding the exporter of kind %s: %w", kind, err)
	}
	return nil
}

func newResourceExporter[T Conditioned](
	reader client.Reader, registry prometheus.Registerer, prefix, kind string, newList func() client.ObjectList, gauges ...Gauge[T],
) *resourceExporter[T] {
	constant := prometheus.Labels{metric.Kind.Name: kind}
	e := &resourceExporter[T]{
		kind:       kind,
		conditions: describe(metric.Condition(prefix), constant), transitions: describe(metric.Transition(prefix), constant),
		gauges: gauges, reader: reader, newList: newList, registry: registry, now: time.Now,
	}
	for _, gauge := range gauges {
		e.described = append(e.described, describe(gauge.Definition, nil))
	}
	return e
}

// Start exports until ctx ends.
func (e *resourceExporter[T]) Start(ctx context.Context) error {
	err := e.registry.Register(e)
	if _, known := errors.AsType[prometheus.AlreadyRegisteredError](err); known {
		return nil
	}
	if err != nil {
		return fmt.Errorf("exporting resources: %w", err)
	}
	<-ctx.Done()
	e.registry.Unregister(e)
	return nil
}

// NeedLeaderElection is true: series exported by several replicas would count twice.
func (e *resourceExporter[T]) NeedLeaderElection() bool { return true }

// Describe implements [prometheus.Collector].
func (e *resourceExporter[T]) Describe(descs chan<- *prometheus.Desc) {
	descs <- e.conditions.desc
	descs <- e.transitions.desc
	for _, gauge := range e.described {
		descs <- gauge.desc
	}
}

// Collect implements [prometheus.Collector].
func (e *resourceExporter[T]) Collect(series chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	// The objects are only read below.
	resources, err := apply.List[T](ctx, e.reader, e.newList(), client.UnsafeDisableDeepCopy)
	if err != nil {
		series <- prometheus.NewInvalidMetric(e.conditions.desc, err)
		return
	}
	scrape, now := &metric.Scrape{}, e.now()
	for _, resource := range resources {
		e.exportConditions(scrape, series, resource)
		e.exportGauges(scrape, series, resource, now)
	}
}

func (e *resourceExporter[T]) exportConditions(scrape *metric.Scrape, series chan<- prometheus.Metric, resource T) {
	conditions := resource.GetConditions()
	if meta.FindStatusCondition(conditions, vocabulary.ConditionReady) == nil {
		// A resource that was never reconciled must be visible, too.
		conditions = append([]metav1.Condition{{
			Type: vocabulary.ConditionReady, Status: metav1.ConditionUnknown, LastTransitionTime: resource.GetCreationTimestamp(),
		}}, conditions...)
	}
	for _, condition := range conditions {
		e.exportCondition(scrape, series, resource.GetNamespace(), resource.GetName(), condition)
	}
}

func (e *resourceExporter[T]) exportCondition(
	scrape *metric.Scrape, series chan<- prometheus.Metric, namespace, name string, condition metav1.Condition,
) {
	for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
		value := 0.0
		if condition.Status == status {
			value = 1
		}
		series <- e.conditions.sample(scrape, value, e.kind, namespace, name, condition.Type, string(status))
	}
	since := metric.Timestamp(condition.LastTransitionTime.Time, time.Time{})
	series <- e.transitions.sample(scrape, since, e.kind, namespace, name, condition.Type, string(condition.Status), condition.Reason)
}

func (e *resourceExporter[T]) exportGauges(scrape *metric.Scrape, series chan<- prometheus.Metric, resource T, now time.Time) {
	for i, gauge := range e.gauges {
		for _, sample := range gauge.Read(resource, now) {
			labels := append([]string{resource.GetNamespace(), resource.GetName()}, sample.Labels...)
			series <- e.described[i].sample(scrape, sample.Value, labels...)
		}
	}
}
