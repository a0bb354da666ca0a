package deployinfra

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/c5c3/forge/internal/common/testutil/outside"
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

// aggregation maps each release of another project to the values that keep its chart from extending the
// roles "view", "edit" and "admin". A release without values extends none.
var aggregation = map[string][]string{
	"cert-manager":             {"global.rbac.aggregateClusterRoles"},
	"envoy-gateway":            nil,
	"external-secrets":         {"rbac.aggregateToEdit", "rbac.aggregateToView"},
	"mariadb-operator":         {"rbac.aggregation.enabled"},
	"mariadb-operator-crds":    nil,
	"memcached-operator":       nil,
	"openbao":                  nil,
	"prometheus-operator-crds": nil,
}

// TestForeignChartsDoNotExtendTheEditRole fails when the chart of another project extends the
// built-in roles: many of their kinds reach into other namespaces.
func TestForeignChartsDoNotExtendTheEditRole(t *testing.T) {
	for _, object := range build(t, "flux-system").Resources() {
		if object.GetKind() != "HelmRelease" || object.GetLabels()["app.kubernetes.io/part-of"] == "forge" {
			continue
		}
		values, known := aggregation[object.GetName()]
		if !known {
			t.Errorf("say here whether the chart of %s extends the built-in roles", object.GetName())
		}
		for _, value := range values {
			if got := at(object, "spec.values."+value); got != "false" {
				t.Errorf("the values of %s for Flux have %s: %q", object.GetName(), value, got)
			}
			if local := "deploy/infra/" + object.GetName() + "/values.yaml"; exists(local) {
				if got := field(t, local, strings.Split(value, ".")...); got != "false" {
					t.Errorf("%s has %s: %q", local, value, got)
				}
			}
		}
	}
}

// TestCertManagerIgnoresIngressAnnotations fails when cert-manager issues certificates for
// annotations: "edit" includes Ingresses, and an annotation names any ClusterIssuer and usage.
func TestCertManagerIgnoresIngressAnnotations(t *testing.T) {
	release := find(t, build(t, "flux-system"), "HelmRelease", "cert-manager")
	if got := at(release, "spec.values.extraArgs"); !strings.Contains(got, "-ingress-shim") {
		t.Errorf("cert-manager runs with the arguments %s", got)
	}
}

// TestTheEditRoleIsNotExtendedByFlux applies the patches of the FluxInstance to a role like the
// one with which Flux extends "edit" and "admin", and names it as flux-operator does.
func TestTheEditRoleIsNotExtendedByFlux(t *testing.T) {
	instance, err := yaml.Parse(content(t, "deploy/flux-system/fluxinstance.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	patches, err := instance.Pipe(yaml.Lookup("spec", "kustomize", "patches"))
	if err != nil || patches == nil {
		t.Fatalf("the FluxInstance has no patches (%v)", err)
	}
	m := &machine{dir: t.TempDir()}
	m.write(t, "kustomization.yaml", "resources: [roles]\npatches:\n"+patches.MustString())
	m.write(t, "roles/kustomization.yaml", "resources: [rbac.yaml]\nnameSuffix: -flux-system\n")
	m.write(t, "roles/rbac.yaml", `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: flux-edit
  labels:
    rbac.authorization.k8s.io/aggregate-to-admin: "true"
    rbac.authorization.k8s.io/aggregate-to-edit: "true"
`)
	role := find(t, kustomize(t, m.dir), "ClusterRole", "flux-edit-flux-system")
	for label, value := range role.GetLabels() {
		if strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-") && value == "true" {
			t.Errorf("the role has %s", label)
		}
	}
}

// exists reports whether a file of the repository exists.
func exists(path string) bool {
	_, err := os.Stat(outside.File(filepath.Join(root, path)))
	return err == nil
}
