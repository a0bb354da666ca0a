package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

const (
	dashboard = "../../dashboards/keystone-operator.json"
	alerts    = "../../helm/keystone-operator/tests/rendered/everything.yaml"
)

func TestTheDashboardOfTheKeystoneOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, dashboard, "Keystone Operator", "keystone-operator", Definitions())
}

func TestTheAlertsOfTheKeystoneOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, alerts, Definitions())
}

func TestEachMetricOfTheKeystoneOperatorIsUsed(t *testing.T) {
	monitoring.CheckUse(t, dashboard, alerts, Definitions())
}
