package scenario

import (
	"slices"
	"testing"

	"github.com/c5c3/forge/hack/bench/internal/audit"
	"github.com/c5c3/forge/hack/bench/internal/result"
)

func TestEveryPictureShowsColumnsAndScenariosThatExist(t *testing.T) {
	for file, chart := range Charts() {
		for _, line := range chart.Lines {
			known := slices.ContainsFunc(Columns(), func(c result.Column) bool { return c.Name == line.Column })
			if !known || Unknown([]string{line.Scenario}) != "" {
				t.Errorf("%s shows %s of %s, which nothing measures", file, line.Column, line.Scenario)
			}
		}
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

func TestNoTwoKeystonesOfARunHaveOneName(t *testing.T) {
	r := &Run{}
	seen := map[string]bool{}
	for _, key := range r.extras() {
		if seen[key.String()] {
			t.Errorf("%s is there twice", key)
		}
		seen[key.String()] = true
	}
	if len(seen) != 1+len(badNames)*batch {
		t.Errorf("there are %d further Keystones, want %d", len(seen), 1+len(badNames)*batch)
	}
}

func TestThePassesOverKeystonesAreAddedUp(t *testing.T) {
	const metrics = `# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="keystone",result="error"} 2
controller_runtime_reconcile_total{controller="keystone",result="success"} 1.5e+01
controller_runtime_reconcile_total{controller="another",result="success"} 7
`
	if got, err := sum(metrics, passesMetric); err != nil || got != 17 {
		t.Errorf("%d passes (%v), want 17", got, err)
	}
	if _, err := sum(passesMetric+`result="success"} many`+"\n", passesMetric); err == nil {
		t.Error("no error for a value that is no number")
	}
}
