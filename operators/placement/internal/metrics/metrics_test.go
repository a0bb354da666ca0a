package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

const (
	dashboard = "../../dashboards/placement-operator.json"
	alerts    = "../../helm/placement-operator/tests/rendered/everything.yaml"
)

func TestTheDashboardOfThePlacementOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, dashboard, "Placement Operator", "placement-operator", Definitions())
}

func TestTheAlertsOfThePlacementOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, alerts, Definitions())
}

func TestEachMetricOfThePlacementOperatorIsUsed(t *testing.T) {
	monitoring.CheckUse(t, dashboard, alerts, Definitions())
}
