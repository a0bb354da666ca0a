package metric

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
)

func times(t *testing.T, registry prometheus.Registerer, value func(at, now time.Time) float64) *Times {
	t.Helper()
	d := Definition{
		Name: "test_operator_key_age_seconds", Type: Gauge, Help: "Age of a key.",
		Labels: []Label{{Name: "thing"}, {Name: "namespace"}, {Name: "key_type"}},
	}
	made, err := NewTimes(registry, d, value)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// expectSeries compares all series with lines such as `key_age_seconds{...} 1`.
func expectSeries(t *testing.T, collector prometheus.Collector, lines ...string) {
	t.Helper()
	want := "# HELP test_operator_key_age_seconds Age of a key.\n# TYPE test_operator_key_age_seconds gauge\n"
	if len(lines) == 0 {
		want = ""
	}
	for _, line := range lines {
		want += "test_operator_key_age_seconds" + line + "\n"
	}
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

var (
	noon          = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	first, second = types.NamespacedName{Namespace: "ns", Name: "first"}, types.NamespacedName{Namespace: "ns", Name: "second"}
)

func TestAgesAreComputedAtTheScrapeAndRemovedWithTheirResource(t *testing.T) {
	now := noon
	ages := times(t, prometheus.NewRegistry(), Age)
	ages.Now = func() time.Time { return now }
	ages.Set(first, "fernet", now.Add(-time.Minute))
	ages.Set(first, "credential", now.Add(time.Hour)) // the clock was set back
	ages.Set(second, "fernet", now)
	now = now.Add(30 * time.Second)
	expectSeries(t, ages,
		`{key_type="credential",namespace="ns",thing="first"} 0`,
		`{key_type="fernet",namespace="ns",thing="first"} 90`,
		`{key_type="fernet",namespace="ns",thing="second"} 30`)

	ages.Unset(first, "credential")
	ages.Forget(second)
	expectSeries(t, ages, `{key_type="fernet",namespace="ns",thing="first"} 90`)
	if at, ok := ages.Get(first, "fernet"); !ok || !at.Equal(noon.Add(-time.Minute)) {
		t.Errorf("got %s, %t", at, ok)
	}
	ages.Forget(first)
	expectSeries(t, ages)
}

func TestATimestampIsExportedUnchanged(t *testing.T) {
	due := times(t, prometheus.NewRegistry(), Timestamp)
	due.Set(first, "fernet", noon)
	expectSeries(t, due, `{key_type="fernet",namespace="ns",thing="first"} 1.7803152e+09`)
}

func TestASecondRegistrationReturnsTheSameCollector(t *testing.T) {
	registry := prometheus.NewRegistry()
	first := times(t, registry, Age)
	if second := times(t, registry, Age); first != second {
		t.Error("got another collector")
	}
}

func TestAConstantLabelIsNotAVariableLabel(t *testing.T) {
	d := Definition{Name: "a_b", Help: "A.", Labels: []Label{{Name: "kind"}, {Name: "name"}}}
	got := d.Desc(prometheus.Labels{"kind": "Thing"}).String()
	if !strings.Contains(got, `constLabels: {kind="Thing"}`) || !strings.Contains(got, "variableLabels: {name}") {
		t.Error(got)
	}
}
