package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

const (
	dashboard = "../../dashboards/barbican-operator.json"
	alerts    = "../../helm/barbican-operator/tests/rendered/everything.yaml"
)

func TestTheDashboardOfTheBarbicanOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, dashboard, "Barbican Operator", "barbican-operator", Definitions())
}

func TestTheAlertsOfTheBarbicanOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, alerts, Definitions())
}

func TestEachMetricOfTheBarbicanOperatorIsUsed(t *testing.T) {
	monitoring.CheckUse(t, dashboard, alerts, Definitions())
}
