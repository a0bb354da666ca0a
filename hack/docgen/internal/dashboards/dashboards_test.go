package dashboards

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/metric"
)

// boats has no releases, and no Jobs that work on a database.
var boats = Operator{
	Name: "boat", Kinds: []string{"Boat", "Mooring"},
	Metrics: []metric.Definition{
		{Name: "boat_operator_resource_condition"},
		{Name: "boat_operator_resource_condition_transition_timestamp_seconds"},
		{Name: "boat_operator_reconcile_duration_seconds"},
		{Name: "boat_operator_speed_knots"},
	},
}

type written struct {
	Title, UID string
	Panels     []struct {
		Title, Type string
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ Expr, LegendFormat string }
	}
}

func write(t *testing.T, own string) written {
	t.Helper()
	content, err := boats.Write([]byte(own))
	if err != nil {
		t.Fatal(err)
	}
	var d written
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

const speed = `panels: [{title: Speed, description: How fast, queries: [{expr: max(boat_operator_speed_knots), legend: all}]}]`

func TestADashboardHasThePanelsWhoseMetricsTheOperatorDefines(t *testing.T) {
	titles := []string{}
	for _, p := range write(t, speed).Panels {
		titles = append(titles, p.Title)
	}
	want := []string{
		"Is it healthy?", "Leader", "Resources not ready", "Resources", "What is not as it should be", "Ready",
		"What changed?", "Conditions that changed", "Speed",
		"What is slow?", "Reconcile duration (p95)", "Waiting in the queue (p95)", "Requests to the API server", "Memory",
	}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPanelsFillTheGridWithoutOverlapping(t *testing.T) {
	taken := map[string]string{}
	for _, p := range write(t, speed).Panels {
		at := p.GridPos
		if at.X+at.W > columns {
			t.Errorf("%s does not fit: %+v", p.Title, at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				place := fmt.Sprint(x, " ", y)
				if taken[place] != "" {
					t.Fatalf("%s is on top of %s", p.Title, taken[place])
				}
				taken[place] = p.Title
			}
		}
	}
}

func TestDashboardQueriesSelectTheOperator(t *testing.T) {
	d := write(t, speed)
	if d.Title != "Boat Operator" || d.UID != "boat-operator" {
		t.Errorf("got %q and %q", d.Title, d.UID)
	}
	all := ""
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all += target.Expr + "\n"
		}
	}
	for _, want := range []string{
		`max(boat_operator_speed_knots)`, `{controller=~"boat|mooring"}`, `{name=~"boat.openstack.c5c3.io.*"}`,
		`or boat_operator_resource_condition_transition_timestamp_seconds{kind!="Boat", type="Ready"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no query has %s:\n%s", want, all)
		}
	}
}

func TestAPanelOfAMetricThatDoesNotExistIsRefused(t *testing.T) {
	for own, want := range map[string]string{
		strings.ReplaceAll(speed, "knots", "miles"):    `panel "Speed" asks for boat_operator_speed_miles`,
		strings.ReplaceAll(speed, "legend", "caption"): "unknown field",
	} {
		if _, err := boats.Write([]byte(own)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
