package v1alpha1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
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
		k := &Keystone{Status: KeystoneStatus{Conditions: c.conditions}}
		if got := k.AsksForImageTag(); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
