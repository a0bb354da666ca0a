package monitoring

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/metric"
)

var boats = Known([]metric.Definition{
	{Name: "boat_speed_knots", Labels: []metric.Label{{Name: "hull"}}},
	{Name: "boat_trip_seconds", Labels: []metric.Label{{Name: "port"}}},
})

func TestAQueryMayAskForMetricsAndLabelsThatExist(t *testing.T) {
	for _, query := range []string{
		`boat_speed_knots`,
		`max by (hull, namespace) (time() - boat_speed_knots{hull!="by (steel)", job="a"}) > 3 * 86400 and on (hull) boat_speed_knots`,
		`histogram_quantile(0.95, sum by (le, port) (rate(boat_trip_seconds_bucket[5m] offset 1h)))`,
		`absent(up{job="boats"} == 1) or max(leader_election_master_status{name='x'}) == bool 0`,
		`sum without (controller) (increase(controller_runtime_reconcile_errors_total[$__range]))`,
		`topk(5, boat_trip_seconds_sum / boat_trip_seconds_count) unless ignoring (port) group_left () up`,
	} {
		if problems := boats.Problems(query); len(problems) > 0 {
			t.Errorf("%s: %q", query, problems)
		}
	}
}

func TestAQueryForAnUnknownMetricOrLabelIsReported(t *testing.T) {
	for query, want := range map[string][]string{
		`boat_sped_knots`:                                      {"there is no metric boat_sped_knots"},
		`rate(boat_trip_seconds_buckets[5m])`:                  {"there is no metric boat_trip_seconds_buckets"},
		`boat_speed_knots{hul="steel"}`:                        {"metric boat_speed_knots has no label hul"},
		`sum by (keel) (boat_speed_knots)`:                     {"no metric of the query has a label keel"},
		`boat_speed_knots and on (keel) boat_trip_seconds_sum`: {"no metric of the query has a label keel"},
		`boat_speed_knots{le="1"}`:                             {"metric boat_speed_knots has no label le"},
		`time() > 3`:                                           {"the query asks for no metric"},
	} {
		if diff := cmp.Diff(want, boats.Problems(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestAMetricIsUsedByAQueryForOneOfItsSeries(t *testing.T) {
	definitions := []metric.Definition{{Name: "boat_speed_knots"}, {Name: "boat_trip_seconds"}, {Name: "boat_trip"}}
	queries := []string{`rate(boat_trip_seconds_bucket[5m])`, `max(fast_boat_speed_knots)`}
	if diff := cmp.Diff([]string{"boat_speed_knots", "boat_trip"}, unused(queries, definitions)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheFilesOfMonitoringAreRead(t *testing.T) {
	write := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	alerts := Alerts(t, write("objects.yaml", "---\nkind: Boat\nspec: {groups: big}\n---\n# Source: a\nkind: PrometheusRule\n"+
		"spec:\n  groups:\n  - rules:\n    - alert: Leak\n      expr: up\n      annotations: {summary: a}\n"))
	if diff := cmp.Diff([]Alert{{Alert: "Leak", Expr: "up", Annotations: map[string]string{"summary": "a"}}}, alerts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	firing, silent := Tested(t, write("tests.yaml", "tests:\n- alert_rule_test:\n"+
		"  - {alertname: Leak, exp_alerts: [{exp_labels: {a: b}}]}\n  - {alertname: Fire, exp_alerts: []}\n  - {alertname: Ice}\n"))
	if diff := cmp.Diff([]map[string]bool{{"Leak": true}, {"Fire": true, "Ice": true}}, []map[string]bool{firing, silent}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	dashboard := ReadDashboard(t, write("boats.json", `{"title": "Boats", "uid": "b", "panels": [{"targets": [{"expr": "up"}]}]}`))
	if dashboard.UID != "b" || dashboard.Panels[0].Targets[0].Expr != "up" {
		t.Errorf("got %+v", dashboard)
	}
}
