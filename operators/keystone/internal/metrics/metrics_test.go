package metrics

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/monitoring"
)

func TestTheDashboardOfTheKeystoneOperatorShowsMetricsThatExist(t *testing.T) {
	monitoring.CheckDashboard(t, "../../dashboards/keystone-operator.json", "Keystone Operator", "keystone-operator", Definitions())
}

func TestTheAlertsOfTheKeystoneOperatorAskForMetricsThatExist(t *testing.T) {
	monitoring.CheckAlerts(t, "../../helm/keystone-operator/files/alerts.yaml", Definitions())
}
