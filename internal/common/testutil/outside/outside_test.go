package outside

import (
	"slices"
	"strings"
	"testing"
)

func TestOperatorsAreFoundByTheirPrograms(t *testing.T) {
	operators, err := Operators("../../../..")
	if err != nil || !slices.Contains(operators, "keystone") || slices.Contains(operators, "shared") {
		t.Errorf("got %v, %v", operators, err)
	}
	if _, err := Operators(t.TempDir()); err == nil || !strings.Contains(err.Error(), "go.work") {
		t.Errorf("outside a checkout: %v", err)
	}
}

func TestAPathBelongsToAnOperatorOrToAFolderAtTheTop(t *testing.T) {
	const root = "../../../../"
	for path, want := range map[string]string{
		root + "docs/examples":                            "DOCS",
		root + "operators/keystone/config/crd/bases":      "OPERATORS_KEYSTONE",
		root + "kubectl-forge/main.go":                    "KUBECTL_FORGE",
		root + "operators":                                "OPERATORS",
		root + "deploy/infra/memcached-operator/crd.yaml": "DEPLOY",
		root + "hack":                                     "HACK",
		root + "hack/deploy-infra.sh":                     "HACK_DEPLOY_INFRA_SH",
		root + "hack/kind-config.yaml":                    "HACK_KIND_CONFIG_YAML",
		t.TempDir():                                       "",
	} {
		if got := part(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		if got := File(path); got != path {
			t.Errorf("the path %s became %s", path, got)
		}
	}
}
