package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/hack/bench/internal/audit"
	"github.com/c5c3/forge/hack/bench/internal/operators"
)

func TestScenariosThatAnOperatorCannotRunAreLeftOut(t *testing.T) {
	want := []string{
		"start", "create", "label", "replicas", "shared", "restart", "failing", "invalid", "late", "refused", "foreign", "restart-full",
	}
	if diff := cmp.Diff(want, Names(operators.ControlPlanes)); diff != "" {
		t.Errorf("scenarios of ControlPlanes (-want +got):\n%s", diff)
	}
	if got := Unknown(operators.ControlPlanes, []string{"create", "pods"}); got != "pods" {
		t.Errorf("%q is unknown, want pods", got)
	}
	if got := Unknown(operators.Keystones, []string{"create", "pods"}); got != "" {
		t.Errorf("%q is unknown with Keystones", got)
	}
}

func TestEveryClassOfRequestsHasAColumn(t *testing.T) {
	names := map[string]bool{}
	for _, column := range Columns() {
		if names[column.Name] || column.Name == "" {
			t.Errorf("column %q is there twice or has no name", column.Name)
		}
		names[column.Name] = true
	}
	for _, class := range audit.Classes {
		if !names[classColumns[class]] {
			t.Errorf("there is no column for %s", class)
		}
	}
}

func TestNoTwoResourcesOfARunHaveOneName(t *testing.T) {
	for _, o := range operators.All {
		r := &Run{options: Options{Operator: o}}
		seen := map[string]bool{}
		for _, key := range r.extras() {
			if seen[key.String()] {
				t.Errorf("%s is there twice", key)
			}
			seen[key.String()] = true
		}
		if len(seen) != 1+len(badNames)*batch {
			t.Errorf("there are %d further %s, want %d", len(seen), o.Plural, 1+len(badNames)*batch)
		}
	}
}

func TestReconcileCountsOfOneControllerAreSummed(t *testing.T) {
	const metrics = `# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="keystone",result="error"} 2
controller_runtime_reconcile_total{controller="keystone",result="success"} 1.5e+01
controller_runtime_reconcile_total{controller="another",result="success"} 7
`
	if got, err := sum(metrics, passesMetric("keystone")); err != nil || got != 17 {
		t.Errorf("%d passes (%v), want 17", got, err)
	}
	if _, err := sum(passesMetric("keystone")+`result="success"} many`+"\n", passesMetric("keystone")); err == nil {
		t.Error("no error for a value that is no number")
	}
}
