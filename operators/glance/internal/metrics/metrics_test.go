package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

const (
	dashboard = "../../dashboards/glance-operator.json"
	alerts    = "../../helm/glance-operator/tests/rendered/everything.yaml"
)

func TestTheDashboardOfTheGlanceOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, dashboard, "Glance Operator", "glance-operator", Definitions())
}

func TestTheAlertsOfTheGlanceOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, alerts, Definitions())
}

func TestEachMetricOfTheGlanceOperatorIsUsed(t *testing.T) {
	monitoring.CheckUse(t, dashboard, alerts, Definitions())
}
