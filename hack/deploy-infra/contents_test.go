package deployinfra

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// operators returns the names of our operators.
func operators(t *testing.T) []string {
	t.Helper()
	names, err := outside.Operators(root)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// find returns the object with a kind and a name.
func find(t *testing.T, objects resmap.ResMap, kind, name string) *resource.Resource {
	t.Helper()
	for _, object := range objects.Resources() {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// at returns the value of an object at a path such as "spec.chart.spec.version" as
// text, or "".
func at(object *resource.Resource, path string) string {
	value, err := object.GetFieldValue(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(value)
}

// names returns the names in a list of objects at a path.
func names(object *resource.Resource, path string) []string {
	list, err := object.GetSlice(path)
	if err != nil {
		return nil
	}
	var found []string
	for _, item := range list {
		found = append(found, fmt.Sprint(item.(map[string]any)["name"]))
	}
	return found
}

func TestHelmReleasesHaveTheDocumentedChartsAndVersions(t *testing.T) {
	want := map[string]string{
		"cert-manager":             "https://charts.jetstack.io cert-manager v1.20.2 in cert-manager",
		"mariadb-operator-crds":    "https://helm.mariadb.com/mariadb-operator mariadb-operator-crds 0.38.1 in mariadb-system",
		"mariadb-operator":         "https://helm.mariadb.com/mariadb-operator mariadb-operator 0.38.1 in mariadb-system",
		"external-secrets":         "https://charts.external-secrets.io external-secrets 0.20.4 in external-secrets",
		"openbao":                  "https://openbao.github.io/openbao-helm openbao 0.28.0 in openbao-system",
		"memcached-operator":       "oci://ghcr.io/c5c3/charts memcached-operator >=0.1 <1 in memcached-system",
		"prometheus-operator-crds": "https://prometheus-community.github.io/helm-charts prometheus-operator-crds 19.1.0 in monitoring",
		"envoy-gateway":            "oci://docker.io/envoyproxy gateway-helm v1.9.1 in envoy-gateway-system",
	}
	for _, operator := range operators(t) {
		want[operator+"-operator"] = fmt.Sprintf("oci://ghcr.io/c5c3/charts %[1]s-operator %[2]s in %[1]s-system", operator, version(t))
	}
	objects := build(t, "flux-system")
	got := map[string]string{}
	for _, object := range objects.Resources() {
		if object.GetKind() == "HelmRelease" {
			source := find(t, objects, "HelmRepository", at(object, "spec.chart.spec.sourceRef.name"))
			got[object.GetName()] = fmt.Sprintf("%s %s %s in %s", at(source, "spec.url"),
				at(object, "spec.chart.spec.chart"), at(object, "spec.chart.spec.version"), at(object, "spec.targetNamespace"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tag := at(find(t, objects, "GitRepository", "k-orc"), "spec.ref.tag"); tag != "v2.6.0" {
		t.Errorf("K-ORC is %s", tag)
	}
}

func TestEveryReleaseDependsOnReleasesThatAreThere(t *testing.T) {
	for _, folder := range []string{"flux-system", "kind/base"} {
		objects := build(t, folder)
		for _, object := range objects.Resources() {
			for _, name := range names(object, "spec.dependsOn") {
				find(t, objects, object.GetKind(), name)
			}
		}
	}
	got := names(find(t, build(t, "flux-system"), "HelmRelease", "c5c3-operator"), "spec.dependsOn")
	if !slices.Contains(got, "keystone-operator") {
		t.Errorf("c5c3-operator depends on %v", got)
	}
}

func TestEveryNamespaceOfAReleaseIsMade(t *testing.T) {
	namespaces := build(t, "namespaces")
	for _, folder := range []string{"flux-system", "kind/base", "kind/prometheus"} {
		for _, object := range build(t, folder).Resources() {
			if namespace := at(object, "spec.targetNamespace"); namespace != "" {
				find(t, namespaces, "Namespace", namespace)
			}
		}
	}
	for _, object := range build(t, "infrastructure").Resources() {
		if namespace := object.GetNamespace(); namespace != "" {
			find(t, namespaces, "Namespace", namespace)
		}
	}
}

// TestEveryStageWaitsForWhatItDeploys fails when a stage of the GitOps tree names a
// health check of something that it does not deploy, or deploys a release that it
// does not wait for. Flux ignores health checks of a stage that waits for all of
// its objects.
func TestEveryStageWaitsForWhatItDeploys(t *testing.T) {
	stages := build(t, "flux")
	for _, stage := range stages.Resources() {
		if stage.GetKind() != "Kustomization" {
			continue
		}
		source := at(stage, "spec.sourceRef.name")
		find(t, stages, "GitRepository", source)
		for _, name := range names(stage, "spec.dependsOn") {
			find(t, stages, "Kustomization", name)
		}
		checks := names(stage, "spec.healthChecks")
		if (len(checks) == 0) == (at(stage, "spec.wait") != "true") {
			t.Errorf("%s has to wait for all that it deploys or for what it names", stage.GetName())
		}
		if source == "forge" && at(stage, "spec.wait") != "true" {
			checkStage(t, stage.GetName(), at(stage, "spec.path"), checks)
		}
	}
}

func checkStage(t *testing.T, stage, path string, checks []string) {
	t.Helper()
	var deployed []string
	for _, object := range build(t, path[len("./deploy/"):]).Resources() {
		deployed = append(deployed, object.GetName())
		if object.GetKind() == "HelmRelease" && !slices.Contains(checks, object.GetName()) {
			t.Errorf("%s does not wait for the release %s", stage, object.GetName())
		}
	}
	for _, name := range checks {
		if !slices.Contains(deployed, name) {
			t.Errorf("%s waits for %s, which it does not deploy", stage, name)
		}
	}
}

func TestTheKindOverlayUsesMinimalSizes(t *testing.T) {
	infrastructure, base := build(t, "kind/infrastructure"), build(t, "kind/base")
	type value struct {
		object     *resource.Resource
		path, want string
	}
	values := []value{
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.replicas", "1"},
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.affinity", ""},
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.galera", ""},
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.maxScale", ""},
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.storage.storageClassName", "standard"},
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.tls.enabled", "false"},
		{find(t, infrastructure, "MariaDB", "openstack-db"), "spec.tls.required", ""},
		{find(t, infrastructure, "Memcached", "openstack-memcached"), "spec.replicas", "1"},
		{find(t, infrastructure, "GatewayClass", "envoy"), "spec.parametersRef.name", "envoy-nodeport"},
		{find(t, base, "HelmRelease", "memcached-operator"), "spec.suspend", ""},
		{find(t, base, "Kustomization", "k-orc"), "spec.suspend", "true"},
		{find(t, base, "GitRepository", "k-orc"), "spec.suspend", "true"},
		{find(t, base, "HelmRepository", "c5c3-charts"), "spec.suspend", "true"},
		{find(t, base, "HelmRepository", "memcached-operator"), "spec.suspend", ""},
		{find(t, base, "HelmRelease", "openbao"), "spec.values.server.ha.replicas", "1"},
	}
	for _, operator := range operators(t) {
		values = append(values, value{find(t, base, "HelmRelease", operator+"-operator"), "spec.suspend", "true"})
	}
	for _, c := range values {
		if got := at(c.object, c.path); got != c.want {
			t.Errorf("%s %s: %s is %q, want %q", c.object.GetKind(), c.object.GetName(), c.path, got, c.want)
		}
	}
}

// TestTheServersOfAProductionDatabaseRunOnDifferentNodes looks for servers that a single node could
// take along.
func TestTheServersOfAProductionDatabaseRunOnDifferentNodes(t *testing.T) {
	database := find(t, build(t, "infrastructure"), "MariaDB", "openstack-db")
	const rule = "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.podAffinityTerm."
	for path, want := range map[string]string{
		"topologyKey": "kubernetes.io/hostname",
		`labelSelector.matchLabels.app\.kubernetes\.io/instance`: database.GetName(),
		`labelSelector.matchLabels.app\.kubernetes\.io/name`:     "mariadb",
	} {
		if got := at(database, rule+path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// TestFluxHasAFixedVersion fails when the version of Flux depends on the time of the deployment.
func TestFluxHasAFixedVersion(t *testing.T) {
	got := field(t, "deploy/flux-system/fluxinstance.yaml", "spec", "distribution", "version")
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(got) {
		t.Errorf("the version of Flux is %s", got)
	}
}

func TestTheSharedKindOverlayOmitsWhatAControlPlaneCreates(t *testing.T) {
	whole, shared := build(t, "kind/infrastructure"), build(t, "kind/infrastructure/shared")
	var left []string
	for _, object := range whole.Resources() {
		if _, err := shared.GetById(object.CurId()); err != nil {
			left = append(left, object.GetKind()+" "+object.GetName())
		}
	}
	slices.Sort(left)
	want := []string{
		"ExternalSecret keystone-admin", "ExternalSecret keystone-db", "ExternalSecret mariadb-root-password",
		"MariaDB openstack-db", "Memcached openstack-memcached",
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
