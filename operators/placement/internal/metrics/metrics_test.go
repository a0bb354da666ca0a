package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

func TestTheDashboardOfThePlacementOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, "../../dashboards/placement-operator.json", "Placement Operator", "placement-operator", Definitions())
}

func TestTheAlertsOfThePlacementOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, "../../helm/placement-operator/files/alerts.yaml", Definitions())
}
