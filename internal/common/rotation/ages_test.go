package rotation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// scrape returns the ages by their labels.
func scrape(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	ages := map[string]float64{}
	for _, family := range gathered {
		for _, metric := range family.GetMetric() {
			series := family.GetName()
			for _, label := range metric.GetLabel() {
				series += " " + label.GetName() + "=" + label.GetValue()
			}
			ages[series] = metric.GetGauge().GetValue()
		}
	}
	return ages
}

func TestAgesGrowUntilTheyAreScrapedAndEndWithTheirResource(t *testing.T) {
	now := time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	registry := prometheus.NewRegistry()
	ages, err := NewAges(registry, "test_operator", "thing")
	if err != nil {
		t.Fatal(err)
	}
	ages.Now = func() time.Time { return now }
	first, second := types.NamespacedName{Namespace: "ns", Name: "first"}, types.NamespacedName{Namespace: "ns", Name: "second"}
	ages.Set(first, "fernet", now.Add(-time.Minute))
	ages.Set(first, "credential", now.Add(time.Hour)) // a clock was set back
	ages.Set(second, "fernet", now)
	now = now.Add(30 * time.Second)

	const series = "test_operator_key_rotation_age_seconds key_type="
	want := map[string]float64{
		series + "fernet namespace=ns thing=first": 90, series + "credential namespace=ns thing=first": 0,
		series + "fernet namespace=ns thing=second": 30,
	}
	if diff := cmp.Diff(want, scrape(t, registry)); diff != "" {
		t.Errorf("ages (-want +got):\n%s", diff)
	}

	ages.Unset(first, "credential")
	ages.Forget(second)
	want = map[string]float64{series + "fernet namespace=ns thing=first": 90}
	if diff := cmp.Diff(want, scrape(t, registry)); diff != "" {
		t.Errorf("ages after some ended (-want +got):\n%s", diff)
	}
}

func TestASecondOperatorOfTheProcessSharesTheAges(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, err := NewAges(registry, "test_operator", "thing")
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewAges(registry, "test_operator", "thing")
	if err != nil || first != second {
		t.Errorf("got another collector, error %v", err)
	}
}
