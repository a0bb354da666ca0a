package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

const (
	dashboard = "../../dashboards/horizon-operator.json"
	alerts    = "../../helm/horizon-operator/tests/rendered/everything.yaml"
)

func TestTheDashboardOfTheHorizonOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, dashboard, "Horizon Operator", "horizon-operator", Definitions())
}

func TestTheAlertsOfTheHorizonOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, alerts, Definitions())
}

func TestEachMetricOfTheHorizonOperatorIsUsed(t *testing.T) {
	monitoring.CheckUse(t, dashboard, alerts, Definitions())
}
