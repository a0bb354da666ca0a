package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

func TestTheDashboardOfTheC5c3OperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, "../../dashboards/c5c3-operator.json", "ControlPlane Operator", "c5c3-operator", Definitions())
}

func TestTheAlertsOfTheC5c3OperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, "../../helm/c5c3-operator/files/alerts.yaml", Definitions())
}
