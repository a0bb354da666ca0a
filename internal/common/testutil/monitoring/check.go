package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/metric"
)

// CheckDashboard fails a test if the dashboard in a file has the wrong title or
// uid, if a panel has no description, or if a query uses metrics or
// labels that are not defined.
func CheckDashboard(t *testing.T, path, title, uid string, definitions []metric.Definition) {
	t.Helper()
	shown, known := ReadDashboard(t, path), Known(definitions)
	if shown.Title != title || shown.UID != uid {
		t.Errorf("got title %q and uid %q", shown.Title, shown.UID)
	}
	queries := 0
	for _, panel := range shown.Panels {
		if panel.Type != "row" && (panel.Description == "" || len(panel.Targets) == 0) {
			t.Errorf("panel %q does not say what it shows, or shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			queries++
			for _, problem := range known.Problems(target.Expr) {
				t.Errorf("panel %q: %s: %s", panel.Title, problem, target.Expr)
			}
		}
	}
	if queries < 10 {
		t.Errorf("found only %d queries", queries)
	}
}

// CheckAlerts fails a test if an alert of a file uses metrics or labels that
// are not defined.
func CheckAlerts(t *testing.T, path string, definitions []metric.Definition) {
	t.Helper()
	known, rules := Known(definitions), Alerts(t, path)
	if len(rules) < 5 {
		t.Errorf("found only %d alerts", len(rules))
	}
	for _, rule := range rules {
		for _, problem := range known.Problems(rule.Expr) {
			t.Errorf("%s: %s: %s", rule.Alert, problem, rule.Expr)
		}
	}
}

// CheckUse fails a test if neither the dashboard nor an alert of an operator uses one of
// its metrics.
func CheckUse(t *testing.T, dashboard, alerts string, definitions []metric.Definition) {
	t.Helper()
	var queries []string
	for _, panel := range ReadDashboard(t, dashboard).Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	for _, rule := range Alerts(t, alerts) {
		queries = append(queries, rule.Expr)
	}
	for _, name := range unused(queries, definitions) {
		t.Errorf("neither the dashboard nor an alert uses %s", name)
	}
}

// unused returns the metrics that no query uses.
func unused(queries []string, definitions []metric.Definition) []string {
	var names []string
	for _, d := range definitions {
		series := regexp.MustCompile(`\b(` + strings.Join(metric.Series(d.Name), "|") + `)\b`)
		if !slices.ContainsFunc(queries, series.MatchString) {
			names = append(names, d.Name)
		}
	}
	return names
}
