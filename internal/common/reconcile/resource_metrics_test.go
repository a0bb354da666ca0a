package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/metric"
)

func exporter(reader client.Reader, registry prometheus.Registerer, gauges ...Gauge[*thing]) *resourceExporter[*thing] {
	return newResourceExporter(reader, registry, "test_operator", "Thing", func() client.ObjectList { return &thingList{} }, gauges...)
}

// transition is the exposition of the last transition of Ready.
func transition(labels string, since int64) string {
	d := metric.Transition("test_operator")
	return fmt.Sprintf("# HELP %s %s\n# TYPE %s gauge\n%s{kind=\"Thing\",name=\"thing\",namespace=\"default\",%s,type=\"Ready\"} %d\n",
		d.Name, d.Help, d.Name, d.Name, labels, since)
}

func TestConditionMetricsAreExportedUntilTheResourceIsDeleted(t *testing.T) {
	obj := someThing()
	obj.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: "NotAllReady", LastTransitionTime: metav1.Unix(1000, 0),
	}}
	w := newWorld(t, obj)
	e := exporter(w.Client, nil)
	want := `
# HELP test_operator_resource_condition Status of a condition of a resource: 1 for the current status, 0 for the others.
# TYPE test_operator_resource_condition gauge
test_operator_resource_condition{kind="Thing",name="thing",namespace="default",status="False",type="Ready"} 1
test_operator_resource_condition{kind="Thing",name="thing",namespace="default",status="True",type="Ready"} 0
test_operator_resource_condition{kind="Thing",name="thing",namespace="default",status="Unknown",type="Ready"} 0
` + transition(`reason="NotAllReady",status="False"`, 1000)
	if err := testutil.CollectAndCompare(e, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if err := w.Delete(t.Context(), w.get(t)); err != nil {
		t.Fatal(err)
	}
	if got := testutil.CollectAndCount(e); got != 0 {
		t.Errorf("%d series of a resource that is gone", got)
	}
}

func TestReadyOfAnUnreconciledResourceIsUnknownSinceCreation(t *testing.T) {
	obj := someThing()
	obj.CreationTimestamp = metav1.Unix(500, 0)
	want := transition(`reason="",status="Unknown"`, 500)
	err := testutil.CollectAndCompare(exporter(newWorld(t, obj).Client, nil), strings.NewReader(want),
		metric.Transition("test_operator").Name)
	if err != nil {
		t.Error(err)
	}
}

func TestResourceGaugesAreComputedAtTheScrape(t *testing.T) {
	age := Gauge[*thing]{
		Definition: metric.Definition{
			Name: "test_operator_age_seconds", Type: metric.Gauge, Help: "Age.",
			Labels: []metric.Label{metric.Namespace, metric.Name, {Name: "part"}},
		},
		Read: func(obj *thing, now time.Time) []Sample {
			return []Sample{{Labels: []string{"hull"}, Value: metric.Age(obj.CreationTimestamp.Time, now)}}
		},
	}
	obj := someThing()
	obj.CreationTimestamp = metav1.Unix(500, 0)
	e := exporter(newWorld(t, obj).Client, nil, age)
	for _, now := range []int64{560, 620} {
		e.now = func() time.Time { return time.Unix(now, 0) }
		want := fmt.Sprintf(`
# HELP test_operator_age_seconds Age.
# TYPE test_operator_age_seconds gauge
test_operator_age_seconds{name="thing",namespace="default",part="hull"} %d
`, now-500)
		if err := testutil.CollectAndCompare(e, strings.NewReader(want), "test_operator_age_seconds"); err != nil {
			t.Error(err)
		}
	}
}

// allocationsPerSeries are those for what the registry holds, for the series and for its labels.
// The rest of a resource may take a quarter.
const allocationsPerSeries = 3.25

func TestTheSeriesOfAScrapeShareTheirLabels(t *testing.T) {
	const things, conditions = 50, 10
	items := make([]thing, things)
	for i := range items {
		items[i] = *someThing()
		items[i].Name = fmt.Sprintf("thing-%d", i)
		for c := range conditions {
			meta.SetStatusCondition(&items[i].Status.Conditions, metav1.Condition{
				Type: fmt.Sprintf("C%dReady", c), Status: metav1.ConditionTrue, Reason: "Fine",
			})
		}
	}
	e := exporter(listed{items: items}, nil)
	// With Ready, which none has.
	want := 4 * (conditions + 1) * things
	collected := make(chan prometheus.Metric, want)
	allocations := testing.AllocsPerRun(10, func() {
		e.Collect(collected)
		if len(collected) != want {
			t.Errorf("%d series, want %d", len(collected), want)
		}
		for len(collected) > 0 {
			if err := (<-collected).Write(&dto.Metric{}); err != nil {
				t.Error(err)
			}
		}
	})
	if each := allocations / float64(want); each > allocationsPerSeries {
		t.Errorf("a series costs %.2f allocations, want %.2f at most", each, allocationsPerSeries)
	}
}

// listed is a cache with the items.
type listed struct {
	client.Reader

	items []thing
}

func (l listed) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	into, ok := list.(*thingList)
	if !ok {
		return fmt.Errorf("%T is no list of things", list)
	}
	into.Items = l.items
	return nil
}

func TestATerminalOutcomeIsNotCountedAsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome Outcome
		want    int
	}{
		"done":                 {Done("Fine", ""), 0},
		"waiting":              {Waiting("NotYet", "later"), 0},
		"waiting for the user": {Terminal("Wrong", errors.New("change the spec")), 0},
		"an error":             {Failed("Broken", errors.New("the API server does not answer")), 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewMetrics(prometheus.NewPedanticRegistry(), "test_operator")
			if err != nil {
				t.Fatal(err)
			}
			var ran []string
			Pipeline[*[]string]{fixed("A", "AReady", tc.outcome, &ran)}.run(t.Context(), &ran, m)
			if got := testutil.CollectAndCount(m.errors); got != tc.want {
				t.Errorf("%d errors are counted, expected %d", got, tc.want)
			}
		})
	}
}

func TestDefinedAndExportedMetricsAreTheSame(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m, err := NewMetrics(registry, "test_operator")
	if err != nil {
		t.Fatal(err)
	}
	m.Observe("Step", "Ready", time.Second, true)
	registry.MustRegister(exporter(newWorld(t, someThing()).Client, nil))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var exported, defined []string
	for _, family := range families {
		exported = append(exported, family.GetName())
	}
	for _, d := range metric.Steps("test_operator") {
		defined = append(defined, d.Name)
	}
	slices.Sort(defined)
	if diff := cmp.Diff(defined, exported); diff != "" {
		t.Errorf("-defined +exported:\n%s", diff)
	}
}

func TestAFailedListOfResourcesIsAScrapeError(t *testing.T) {
	registry := prometheus.NewRegistry()
	broken := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the cache is not started")
		},
	}).Build()
	registry.MustRegister(exporter(broken, registry))
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "the cache is not started") {
		t.Errorf("got error %v", err)
	}
}

func TestConditionsAreExportedWhileTheManagerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		obj := someThing()
		obj.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}
		e := exporter(newWorld(t, obj).Client, registry)
		families := func() int {
			synctest.Wait()
			found, err := registry.Gather()
			if err != nil {
				t.Error(err)
			}
			return len(found)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Start(ctx) }()
		if got := families(); got != 2 {
			t.Errorf("%d families while the manager runs, want 2", got)
		}
		stop()
		if got := families(); got != 0 {
			t.Errorf("%d families after its end, want none", got)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if !exporter(nil, nil).NeedLeaderElection() {
		t.Error("what several replicas exported would count twice")
	}
}
