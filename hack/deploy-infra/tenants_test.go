package deployinfra

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestEachTenantLogsInToTheStoreAsItself fails when a store that any namespace may use
// logs in with an account that is not the namespace's own.
func TestEachTenantLogsInToTheStoreAsItself(t *testing.T) {
	for _, object := range build(t, "infrastructure").Resources() {
		if object.GetKind() != "ClusterSecretStore" {
			continue
		}
		const account = "spec.provider.vault.auth.kubernetes.serviceAccountRef."
		limited := len(names(object, "spec.conditions")) > 0
		switch namespace := at(object, account+"namespace"); {
		case namespace != "" && !limited:
			t.Errorf("every namespace has the rights of %s/%s in %s", namespace, at(object, account+"name"), object.GetName())
		case namespace == "external-secrets":
			t.Errorf("%s uses the account of External Secrets, whose token any SecretStore may use", object.GetName())
		}
		if audiences := at(object, account+"audiences"); audiences != "[openbao]" {
			t.Errorf("%s logs in with a token for %q, which pods have as well", object.GetName(), audiences)
		}
	}
}

// TestWhoMayEditAppliesNoExternalSecret fails when the chart of External Secrets extends
// the roles "edit" and "view".
func TestWhoMayEditAppliesNoExternalSecret(t *testing.T) {
	local, err := os.ReadFile(filepath.Join(deploy(), "infra/external-secrets/values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	release := find(t, build(t, "flux-system"), "HelmRelease", "external-secrets")
	values, err := release.GetFieldValue("spec.values")
	if err != nil {
		t.Fatal(err)
	}
	flux, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"the local cluster": string(local), "Flux": string(flux)} {
		for _, value := range []string{"aggregateToEdit: false", "aggregateToView: false"} {
			if !strings.Contains(content, value) {
				t.Errorf("the values for %s have no %s", name, value)
			}
		}
	}
}
