package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

const (
	dashboard = "../../dashboards/c5c3-operator.json"
	alerts    = "../../helm/c5c3-operator/tests/rendered/everything.yaml"
)

func TestTheDashboardOfTheC5c3OperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, dashboard, "ControlPlane Operator", "c5c3-operator", Definitions())
}

func TestTheAlertsOfTheC5c3OperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, alerts, Definitions())
}

func TestEachMetricOfTheC5c3OperatorIsUsed(t *testing.T) {
	monitoring.CheckUse(t, dashboard, alerts, Definitions())
}
