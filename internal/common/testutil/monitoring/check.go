package monitoring

import (
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
