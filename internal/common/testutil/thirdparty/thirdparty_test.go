package thirdparty

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCRDsHoldEveryKindOfAProject(t *testing.T) {
	for project, want := range map[Project][]string{
		MariaDB:         {"MariaDB", "Database", "User", "Grant", "Backup", "Restore"},
		ExternalSecrets: {"ClusterSecretStore", "ExternalSecret", "PushSecret"},
		CertManager:     {"Certificate", "Issuer", "ClusterIssuer"},
		KORC:            {"ApplicationCredential", "Domain", "Endpoint", "Project", "Role", "Service", "User"},
		GatewayAPI:      {"GatewayClass", "Gateway", "HTTPRoute", "ReferenceGrant"},
	} {
		t.Run(string(project), func(t *testing.T) {
			definitions, err := CRDs(project)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, crd := range definitions {
				got = append(got, crd.Spec.Names.Kind)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCRDsOfAnUnknownProjectAreAnError(t *testing.T) {
	if _, err := CRDs("nonesuch"); err == nil {
		t.Error("no error")
	}
}
