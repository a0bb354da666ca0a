package monitoring

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// Alert is an alert rule.
type Alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// Alerts returns the alerts of the PrometheusRule in a file of objects, such as what Helm
// renders.
func Alerts(t *testing.T, path string) []Alert {
	t.Helper()
	var all []Alert
	for document := range strings.SplitSeq(read(t, path), "\n---\n") {
		if !strings.Contains("\n"+document, "\nkind: PrometheusRule\n") {
			continue
		}
		var rule struct {
			Spec struct{ Groups []struct{ Rules []Alert } }
		}
		if err := yaml.Unmarshal([]byte(document), &rule); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, group := range rule.Spec.Groups {
			all = append(all, group.Rules...)
		}
	}
	return all
}

// Tested returns the alerts that a file of promtool tests expects to fire, and
// those that it expects not to fire, at some time.
func Tested(t *testing.T, path string) (firing, silent map[string]bool) {
	t.Helper()
	var file struct {
		Tests []struct {
			Tests []struct {
				Alertname string
				Expected  []any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, path)), &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	firing, silent = map[string]bool{}, map[string]bool{}
	for _, group := range file.Tests {
		for _, test := range group.Tests {
			if len(test.Expected) > 0 {
				firing[test.Alertname] = true
			} else {
				silent[test.Alertname] = true
			}
		}
	}
	return firing, silent
}

// Panel is a panel of a dashboard.
type Panel struct {
	Title, Description, Type string
	Targets                  []struct{ Expr string }
}

// Dashboard is a dashboard of Grafana.
type Dashboard struct {
	Title, UID string
	Panels     []Panel
}

// ReadDashboard returns the dashboard in a file.
func ReadDashboard(t *testing.T, path string) Dashboard {
	t.Helper()
	var dashboard Dashboard
	if err := json.Unmarshal([]byte(read(t, path)), &dashboard); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return dashboard
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(outside.File(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
