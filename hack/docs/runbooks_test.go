package docs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const (
	runbooks = root + "/docs/runbooks"
	library  = root + "/operators/shared/helm/operator-library/tests"
)

// alertsOf maps the alerts of all charts to the folders of their charts.
func alertsOf(t *testing.T) map[string]string {
	t.Helper()
	folders := map[string]string{}
	for _, chart := range charts(t) {
		if filepath.Base(chart) == "openstack-operator" {
			// Its alerts are those of the other charts.
			continue
		}
		for _, alert := range monitoring.Alerts(t, filepath.Join(root, chart, "tests", "rendered", "everything.yaml")) {
			if folders[alert.Alert] != "" {
				t.Errorf("two alerts are called %s", alert.Alert)
			}
			folders[alert.Alert] = filepath.Join(root, chart)
			if got := alert.Annotations["runbook_url"]; filepath.Base(got) != alert.Alert+".md" {
				t.Errorf("the runbook of %s is %q", alert.Alert, got)
			}
			if severity := alert.Labels["severity"]; severity != "critical" && severity != "warning" {
				t.Errorf("%s has the severity %q", alert.Alert, severity)
			}
			if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
				t.Errorf("%s does not say what it is about", alert.Alert)
			}
		}
	}
	return folders
}

func TestEveryAlertHasARunbookAndEveryRunbookAnAlert(t *testing.T) {
	alerts := alertsOf(t)
	index := read(t, filepath.Join(runbooks, "README.md"))
	pages := map[string]bool{}
	walk(t, runbooks, ".md", func(path string) {
		if name := strings.TrimSuffix(filepath.Base(path), ".md"); name != "README" {
			pages[name] = true
		}
	})
	for name := range pages {
		if alerts[name] == "" {
			t.Errorf("%s/%s.md is of no alert", runbooks, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(alerts)) {
		if !pages[name] {
			t.Errorf("%s has no runbook %s/%s.md", name, runbooks, name)
			continue
		}
		page := read(t, filepath.Join(runbooks, name+".md"))
		for _, part := range []string{"# " + name + "\n", "\n## Why it matters\n", "\n## What to do\n", "\n## When it is over\n", "\nkubectl "} {
			if !strings.Contains(page, part) {
				t.Errorf("the runbook of %s lacks %q", name, part)
			}
		}
		if !strings.Contains(index, "("+name+".md)") {
			t.Errorf("%s/README.md does not list %s", runbooks, name)
		}
	}
}

func TestEveryAlertIsTestedFiringAndNotFiring(t *testing.T) {
	for alert, chart := range alertsOf(t) {
		firing, silent := tested(t, chart)
		if !firing[alert] || !silent[alert] {
			t.Errorf("the tests of %s: fires %t, does not fire %t", alert, firing[alert], silent[alert])
		}
	}
}

// tested returns the alerts that the tests of a chart expect to fire and not to fire: its
// own tests, and those of the library, which hack/monitoring/test.sh runs with the chart's
// kind in place of KIND.
func tested(t *testing.T, chart string) (firing, silent map[string]bool) {
	t.Helper()
	var operator struct {
		Service, Database bool
		Kinds             []struct{ Kind string }
	}
	if err := yaml.Unmarshal([]byte(read(t, chart+"/files/operator.yaml")), &operator); err != nil {
		t.Fatal(err)
	}
	common := []string{"/operator-alerts.yaml"}
	if operator.Service {
		common = append(common, "/service-alerts.yaml")
	}
	if operator.Database {
		common = append(common, "/database-alerts.yaml")
	}
	firing, silent = monitoring.Tested(t, chart+"/tests/alerts.yaml")
	for _, file := range common {
		fires, rests := monitoring.Tested(t, library+file)
		for name := range fires {
			firing[strings.Replace(name, "KIND", operator.Kinds[0].Kind, 1)] = true
		}
		for name := range rests {
			silent[strings.Replace(name, "KIND", operator.Kinds[0].Kind, 1)] = true
		}
	}
	return firing, silent
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(outside.File(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
