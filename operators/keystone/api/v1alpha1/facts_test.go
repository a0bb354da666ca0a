package v1alpha1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestOthersFindWhatBelongsToAKeystone(t *testing.T) {
	here := cluster.Settings{Name: "east", Domain: "k8s.example.com"}
	for got, want := range map[string]string{
		InternalEndpoint(cluster.Settings{}, "tenant", "cloud"): "http://cloud.tenant.svc.cluster.local:5000/v3",
		InternalEndpoint(here, "tenant", "cloud"):               "http://cloud.tenant.svc.k8s.example.com:5000/v3",
		LocalEndpoint("tenant", "cloud"):                        "http://cloud.tenant.svc:5000/v3",
		GatewayEndpoint("identity.example.com"):                 "https://identity.example.com/v3",
		StorePath(here, "tenant", "cloud"):                      "east/openstack/keystone/tenant/cloud",
		StorePath(cluster.Settings{}, "tenant", "cloud", "db"):  "openstack/keystone/tenant/cloud/db",
		AdminPasswordPath(here, "tenant", "cloud"):              "east/bootstrap/tenant/cloud/admin",
		FernetKeysName("cloud"):                                 "cloud-fernet-keys",
		CredentialKeysName("cloud"):                             "cloud-credential-keys",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAKeystoneAsksForAnImageTagOnlyWhileItIsNotReady(t *testing.T) {
	const refused = "Not ready: DatabaseReady: going back is not possible; set image.tag to 2026.1 or later"
	for name, c := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"a refused release": {[]metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionFalse, Message: refused}}, true},
		"something else":    {[]metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionFalse, Message: "no database"}}, false},
		"another condition": {[]metav1.Condition{{Type: ConditionDatabaseReady, Status: metav1.ConditionFalse, Message: refused}}, false},
		"ready":             {[]metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionTrue, Message: refused}}, false},
		"nothing is known":  {nil, false},
	} {
		k := &Keystone{Status: KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{Conditions: c.conditions}}}
		if got := k.AsksForImageTag(); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestARollBackIsRefusedOnceTheSchemaContracts(t *testing.T) {
	refused := []metav1.Condition{{Type: ConditionDatabaseReady, Status: metav1.ConditionFalse, Reason: ReasonUpgradeAbortRefused}}
	for name, c := range map[string]struct {
		wanted, target string
		phase          UpgradePhase
		conditions     []metav1.Condition
		generation     int64
		want           bool
	}{
		"contracting":             {"2025.1", "2025.2", UpgradePhaseContracting, nil, 0, true},
		"refused by the operator": {"2025.1", "2025.2", "", refused, 0, true},
		"refused an earlier spec": {"2025.1", "2025.2", "", refused, 2, false},
		"expanding":               {"2025.1", "2025.2", UpgradePhaseExpanding, nil, 0, false},
		"not asked for":           {"2025.2", "2025.2", UpgradePhaseContracting, nil, 0, false},
		"no upgrade is under way": {"2025.1", "", UpgradePhaseContracting, nil, 0, false},
	} {
		k := &Keystone{Status: KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{
			InstalledRelease: "2025.1", TargetRelease: c.target, UpgradePhase: c.phase, Conditions: c.conditions,
		}}}
		k.Generation, k.Spec.Image.Tag = c.generation, c.wanted
		if got := k.RefusesRollBack(); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
