package deployinfra

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/short"
)

// ways maps each way of deploying to a machine on which it is chosen.
var ways = map[string]func(t *testing.T) *machine{
	"modules": func(t *testing.T) *machine { return newMachine(t, "make") },
	"flux":    func(t *testing.T) *machine { return newMachine(t, "make", "curl", "kubectl") },
	"current": func(t *testing.T) *machine {
		return newMachine(t, "make", "kubectl").set(map[string]string{"FAKE_CONTEXT": "team", "INFRA_TARGET": "current"})
	},
}

func TestTheDeploymentTargetIsDetectedAndReported(t *testing.T) {
	all := []string{"make", "curl", "kubectl"}
	for name, c := range map[string]struct {
		programs  []string
		variables map[string]string
		up        bool
		want      string
	}{
		"nothing":                       {nil, nil, false, `"forge", because no other cluster is named; from modules, because no charts`},
		"charts that can be fetched":    {all, nil, false, `the kind cluster "forge", because no other cluster is named; from flux`},
		"charts that cannot be fetched": {all, map[string]string{"FAKE_NO_CHARTS": "1"}, false, `from modules, because no charts can be fetched`},
		"what INFRA_FROM says instead":  {all, map[string]string{"INFRA_FROM": "modules"}, false, `from modules, because INFRA_FROM says so`},
		"parts":                         {all, map[string]string{"INFRA": "traefik"}, false, `from modules, because INFRA names parts`},
		"an existing kind cluster":      {all, map[string]string{"FAKE_CONTEXT": "kind-forge"}, false, `the kind cluster "forge"`},
		"a context that is named": {
			all, map[string]string{"FAKE_CONTEXT": "team", "INFRA_TARGET": "current"}, false, `the context "team" (https://api.example.com)`,
		},
		"a cluster of kind": {
			all, map[string]string{"FAKE_CONTEXT": "kind-other", "FAKE_SERVER": "https://127.0.0.1:6443"}, false, `the context "kind-other"`,
		},
		"a cluster of the checkout that is up": {
			all, map[string]string{"FAKE_CONTEXT": "team"}, true, `because the cluster of this checkout was brought up; from flux`,
		},
		"its parts of modules": {
			all, map[string]string{"FAKE_KINDS": "externalsecrets.external-secrets.io"}, true, `from modules, because the cluster has parts of it`,
		},
		"its releases of Flux": {
			all, map[string]string{"FAKE_KINDS": "externalsecrets.external-secrets.io helmreleases.helm.toolkit.fluxcd.io"}, true, `from flux`,
		},
		"KUBECONFIG": {
			all, map[string]string{"FAKE_CONTEXT": "team", "KUBECONFIG": "/k", "INFRA_TARGET": "current"}, true, `the context "team"`,
		},
		"a kind cluster made by hand": {
			all, map[string]string{"FAKE_CONTEXT": "kind-forge", "SKIP_KIND_CREATE": "true"}, false, `the context "kind-forge"`,
		},
		"what INFRA_TARGET says instead": {all, map[string]string{"FAKE_CONTEXT": "team", "INFRA_TARGET": "kind"}, true, `the kind cluster`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, append([]string{"make"}, c.programs...)...).set(c.variables)
			if c.up {
				m.write(t, "kubeconfig", "")
				m.write(t, ".cache/bin/kubectl", fakes["kubectl"])
			}
			if output, _ := m.mustRun(t); !strings.HasPrefix(output, "Target: ") || !strings.Contains(strings.SplitN(output, "\n", 2)[0], c.want) {
				t.Errorf("it says %s", output)
			}
		})
	}
}

func TestAnImplicitKubeContextIsNotModified(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"a context":                 {"FAKE_CONTEXT": "team"},
		"KUBECONFIG":                {"FAKE_CONTEXT": "team", "KUBECONFIG": "/k"},
		"a name like one of kind's": {"FAKE_CONTEXT": "kind-prod", "FAKE_SERVER": "https://api.example.com"},
	} {
		for _, args := range [][]string{nil, {"--teardown"}} {
			t.Run(fmt.Sprint(name, args), func(t *testing.T) {
				t.Parallel()
				output, calls, err := newMachine(t, "make", "curl", "kubectl").set(variables).run(t, args...)
				if err == nil || !strings.Contains(output, "INFRA_TARGET=current") || !strings.Contains(output, variables["FAKE_CONTEXT"]) {
					t.Errorf("%v: it says %s", err, output)
				}
				for _, change := range []string{"apply", "delete", "patch"} {
					if strings.Contains(calls, change) {
						t.Errorf("it changes the cluster:\n%s", calls)
					}
				}
			})
		}
	}
}

// release is what Kustomize prints for the release of cert-manager.
const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cert-manager
  namespace: flux-system
spec:
  releaseName: cert-manager
  targetNamespace: cert-manager
`

func TestForeignReleasesAreNotAdopted(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"a release of Flux": {"FAKE_MANAGERS": "kustomize-controller"},
		"a release of Helm": {"FAKE_HELM": "secret/sh.helm.release.v1.cert-manager.v1"},
	} {
		m := ways["current"](t).set(variables)
		m.write(t, "kustomize.yaml", release)
		output, calls, err := m.run(t)
		if err == nil || !strings.Contains(output, "cert-manager") || strings.Contains(calls, "apply") {
			t.Errorf("%s: %v: it says %s and calls\n%s", name, err, output, calls)
		}
	}
}

func TestAForeignControlPlaneIsNotAdopted(t *testing.T) {
	m := ways["current"](t).set(map[string]string{"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true"})
	m.set(map[string]string{"FAKE_MANAGERS": "argocd-controller c5c3-operator"})
	output, calls, err := m.run(t)
	if err == nil || !strings.Contains(output, "openstack/controlplane") || strings.Contains(calls, "apply") {
		t.Errorf("%v: it says %s and calls\n%s", err, output, calls)
	}
	m.set(map[string]string{"FAKE_MANAGERS": "deploy-infra c5c3-operator"})
	if _, calls := m.mustRun(t); !strings.Contains(calls, "setup-database-tenant.sh") || strings.Contains(calls, "--force-conflicts") {
		t.Errorf("what another manager has set is overwritten:\n%s", calls)
	}
}

func TestTeardownKeepsForeignReleases(t *testing.T) {
	const deletion = "delete HelmRelease.v2.helm.toolkit.fluxcd.io cert-manager"
	for managers, ours := range map[string]bool{"deploy-infra helm-controller": true, "kubectl helm-controller": false, "": false} {
		m := ways["current"](t).set(map[string]string{"FAKE_MANAGERS": managers})
		m.write(t, "kustomize.yaml", release)
		output, calls := m.mustRun(t, "--teardown")
		if strings.Contains(calls, deletion) != ours {
			t.Errorf("managed by %q: it calls\n%s", managers, calls)
		}
		if managers != "" && strings.Contains(output, "cert-manager stays") == ours {
			t.Errorf("managed by %q: it says %s", managers, output)
		}
	}
}

func TestTheCheckoutKubeconfigSelectsItsCluster(t *testing.T) {
	m := newMachine(t, "make", "kubectl")
	m.write(t, "kubeconfig", "")
	m.set(map[string]string{"KUBECONFIG": m.dir + "/kubeconfig"})
	output, calls := m.mustRun(t)
	if !strings.Contains(output, "KUBECONFIG is that of this checkout") || !strings.Contains(calls, "infra-modules") {
		t.Errorf("it says %s", output)
	}
}

// others holds a non-default value for every variable, and the variables that it
// requires.
var others = map[string]map[string]string{
	"CLUSTER_NAME":                {"CLUSTER_NAME": "other"},
	"HELMRELEASE_TIMEOUT":         {"HELMRELEASE_TIMEOUT": "601"},
	"POD_TIMEOUT":                 {"POD_TIMEOUT": "301"},
	"EXTERNALSECRET_TIMEOUT":      {"EXTERNALSECRET_TIMEOUT": "121"},
	"KIND_HOST_PORT":              {"KIND_HOST_PORT": "8443"},
	"NODE_NOFILE_LIMIT":           {"NODE_NOFILE_LIMIT": "65536"},
	"NODE_NOFILE_LIMIT (empty)":   {"NODE_NOFILE_LIMIT": ""},
	"SKIP_KIND_CREATE":            {"SKIP_KIND_CREATE": "true", "FAKE_CONTEXT": "kind-forge"},
	"WITH_CHAOS_MESH":             {"WITH_CHAOS_MESH": "true"},
	"WITH_PROMETHEUS":             {"WITH_PROMETHEUS": "true"},
	"WITH_CONTROLPLANE":           {"WITH_CONTROLPLANE": "true"},
	"WITH_CONTROLPLANE_CR":        {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true"},
	"CONTROLPLANE_NAME":           {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "CONTROLPLANE_NAME": "other"},
	"CONTROLPLANE_OPERATORS":      {"WITH_CONTROLPLANE": "true", "CONTROLPLANE_OPERATORS": "external"},
	"CONTROLPLANE_DB_REPLICAS":    {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "CONTROLPLANE_DB_REPLICAS": "3"},
	"CONTROLPLANE_CACHE_REPLICAS": {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "CONTROLPLANE_CACHE_REPLICAS": "2"},
	"CONTROLPLANE_DB_STORAGE":     {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "CONTROLPLANE_DB_STORAGE": "2Gi"},
	"GATEWAY_API_VERSION":         {"GATEWAY_API_VERSION": "v1.2.0"},
	"OPENBAO_NAMESPACE":           {"OPENBAO_NAMESPACE": "vault"},
	"BAO_ADDR":                    {"BAO_ADDR": "https://localhost:8200"},
	"VAULT_CACERT":                {"VAULT_CACERT": "/a"},
	"VAULT_CLIENT_CERT":           {"VAULT_CLIENT_CERT": "/b"},
	"VAULT_CLIENT_KEY":            {"VAULT_CLIENT_KEY": "/c"},
	"KORC_CONTROLPLANES":          {"KORC_CONTROLPLANES": "openstack/controlplane team-a/identity"},
	"DB_CREDS_DEFAULT_TTL":        {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "DB_CREDS_DEFAULT_TTL": "1h"},
	"DB_CREDS_MAX_TTL":            {"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "DB_CREDS_MAX_TTL": "2h"},
	"STORE_CLUSTER":               {"STORE_CLUSTER": "east"},
	"INFRA_FROM":                  {"INFRA_FROM": "flux"},
	"INFRA_FROM (modules)":        {"INFRA_FROM": "modules"},
	"INFRA":                       {"INFRA": "secretstore"},
}

// volatile matches temporary folders and times, which differ between runs.
var volatile = regexp.MustCompile(`/tmp\.[A-Za-z0-9]+|=\d{10}\b`)

// TestEveryVariableHasAnEffectOrIsRefusedByName compares the recorded calls with
// those of a run that sets only the variables which this variable requires.
func TestEveryVariableHasAnEffectOrIsRefusedByName(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "modules" {
				short.Skip(t)
			}
			plain := map[string]string{}
			for key, values := range others {
				variable, _, _ := strings.Cut(key, " ")
				if values[variable] == name {
					continue
				}
				without := maps.Clone(values)
				delete(without, variable)
				key := fmt.Sprint(without)
				if _, known := plain[key]; !known {
					m := way(t).set(without)
					_, calls := m.mustRun(t)
					plain[key] = m.lasting(calls)
				}
				hasEffect(t, way(t).set(values), variable, plain[key])
			}
		})
	}
}

// hasEffect fails if a run makes the same calls as one without the variable, or if
// the run is refused without naming the variable or after changing something.
func hasEffect(t *testing.T, m *machine, variable, plain string) {
	t.Helper()
	output, calls, err := m.run(t)
	switch {
	case err == nil && m.lasting(calls) == plain:
		t.Errorf("%s has no effect on\n%s", variable, calls)
	case err != nil && !strings.Contains(output, variable):
		t.Errorf("%s: %v: it says %s", variable, err, output)
	case err != nil && (strings.Contains(calls, "apply") || strings.Contains(calls, "infra-modules")):
		t.Errorf("%s is refused too late:\n%s", variable, calls)
	}
}

// lasting removes from calls what differs between runs.
func (m *machine) lasting(calls string) string {
	return volatile.ReplaceAllString(strings.ReplaceAll(calls, m.dir, ""), "")
}

func TestInvalidValuesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		variables map[string]string
		want      string
	}{
		"no boolean":               {map[string]string{"WITH_PROMETHEUS": "yes"}, "WITH_PROMETHEUS=yes"},
		"no number":                {map[string]string{"POD_TIMEOUT": "5m"}, "POD_TIMEOUT=5m"},
		"a switch that is none":    {map[string]string{"WITH_CHAOS": "true"}, "WITH_CHAOS is not a variable"},
		"a CR without operators":   {map[string]string{"WITH_CONTROLPLANE_CR": "true"}, "WITH_CONTROLPLANE=true"},
		"a size without a CR":      {map[string]string{"CONTROLPLANE_DB_REPLICAS": "3"}, "CONTROLPLANE_DB_REPLICAS has no effect"},
		"a target that is none":    {map[string]string{"INFRA_TARGET": "cloud"}, "INFRA_TARGET=cloud"},
		"a code in place of names": {map[string]string{"KORC_CONTROLPLANES": "a/b; rm"}, "KORC_CONTROLPLANES"},
		"passwords for other ControlPlanes only": {
			map[string]string{"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "KORC_CONTROLPLANES": "a/b"},
			"KORC_CONTROLPLANES has to name openstack/controlplane",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, calls, err := ways["flux"](t).set(c.variables).run(t)
			if err == nil || !strings.Contains(output, c.want) || strings.Contains(calls, "apply") {
				t.Errorf("%v: it says %s and calls\n%s", err, output, calls)
			}
		})
	}
}

func TestTheNamespaceOfChainsawIsIgnored(t *testing.T) {
	_, calls := ways["flux"](t).set(map[string]string{"NAMESPACE": "chainsaw-x"}).mustRun(t)
	if strings.Contains(calls, "chainsaw-x") || !strings.Contains(calls, "OPENBAO_NAMESPACE=openbao-system") {
		t.Errorf("calls\n%s", calls)
	}
}

func TestInfrastructureIsDeployedToAKindClusterInOrder(t *testing.T) {
	m := ways["flux"](t)
	_, calls := m.mustRun(t)
	inOrder(t, calls,
		"cluster-up", "KIND_HOST_PORT=443", "NODE_NOFILE_LIMIT=1048576",
		"flux-operator/releases/download/v0.53.0/install.yaml", "deploy/namespaces", "deploy/flux-system/fluxinstance.yaml",
		"wait --for=condition=Ready --timeout=600s fluxinstance/flux",
		"gateway-api/releases/download/v1.1.0/standard-install.yaml",
		"apply --server-side --force-conflicts --field-manager=deploy-infra -k "+m.dir+"/deploy/kind/base",
		`patch helmrelease c5c3-operator --type=merge -p {"spec": {"suspend": true}}`,
		"helmrelease/cert-manager", "deploy/infrastructure/issuers", "helmrelease/openbao", "helmrelease/envoy-gateway",
		"crd/envoyproxies.gateway.envoyproxy.io", "-k "+m.dir+"/deploy/kind/infrastructure\n", "gateway/openstack-gw",
		"bootstrap.sh", "clustersecretstore/openbao-infrastructure-store clustersecretstore/openbao-cluster-store",
		"externalsecret/keystone-admin externalsecret/keystone-db", "mariadb/openstack-db",
	)
	if strings.Contains(calls, "chaos-mesh") || strings.Contains(calls, "kube-prometheus-stack") {
		t.Errorf("nobody asked for that:\n%s", calls)
	}
}

func TestAControlPlaneIsDeployedOnRequest(t *testing.T) {
	m := ways["flux"](t).set(map[string]string{
		"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "CONTROLPLANE_NAME": "identity", "CONTROLPLANE_DB_STORAGE": "2Gi",
	})
	_, calls := m.mustRun(t)
	inOrder(t, calls,
		`patch kustomization.kustomize.toolkit.fluxcd.io k-orc --type=merge -p {"spec": {"suspend": false}}`,
		`patch helmrelease c5c3-operator --type=merge -p {"spec": {"suspend": false}}`,
		"deploy/kind/infrastructure/shared\n", "KORC_CONTROLPLANES=openstack/identity", "helmrelease/c5c3-operator",
		`"name": "identity"`, `"storageSize": "2Gi"`, `"name": "openstack-gw"`,
		"condition=InfrastructureReady", "setup-database-tenant.sh openstack identity", "condition=Ready",
	)
	if strings.Contains(calls, "mariadb/openstack-db") {
		t.Error("it waits for a database that the ControlPlane makes")
	}
}

func TestForeignOperatorsAreNotTouched(t *testing.T) {
	_, calls := ways["flux"](t).set(map[string]string{"WITH_CONTROLPLANE": "true", "CONTROLPLANE_OPERATORS": "external"}).mustRun(t)
	inOrder(t, calls, `k-orc --type=merge -p {"spec": {"suspend": false}}`, `c5c3-operator --type=merge -p {"spec": {"suspend": true}}`)
	if strings.Contains(calls, "helmrelease/c5c3-operator") {
		t.Error("it waits for a release that is suspended")
	}
}

func TestAnExistingClusterGetsProductionSizesAndKeepsItsFlux(t *testing.T) {
	m := ways["current"](t).set(map[string]string{"FAKE_CRDS": "helmreleases.helm.toolkit.fluxcd.io", "FAKE_GATEWAY_API": "v1.4.0"})
	output, calls := m.mustRun(t)
	inOrder(t, calls, "-k "+m.dir+"/deploy/flux-system\n", `helmrelease keystone-operator --type=merge -p {"spec": {"suspend": false}}`,
		"-k "+m.dir+"/deploy/infrastructure\n")
	for _, unwanted := range []string{"deploy/kind", "flux-operator", "fluxinstance.yaml", "standard-install.yaml"} {
		if strings.Contains(calls, unwanted) {
			t.Errorf("it touches %s:\n%s", unwanted, calls)
		}
	}
	if !strings.Contains(output, "Flux is already installed") ||
		!strings.Contains(output, "Gateway API v1.4.0 is already installed and stays") {
		t.Errorf("it says %s", output)
	}
}

func TestWithPrometheusEachOperatorIsScrapedAndHasDashboardAndAlerts(t *testing.T) {
	_, calls := ways["flux"](t).set(map[string]string{"WITH_PROMETHEUS": "true"}).mustRun(t)
	inOrder(t, calls, "create configmap dashboard-keystone-operator", "deploy/kind/prometheus", "patch helmrelease keystone-operator",
		"--timeout=1200s helmrelease/kube-prometheus-stack")
	for _, operator := range []string{"keystone-operator", "c5c3-operator"} {
		inOrder(t, calls, "create configmap dashboard-"+operator, "deploy/kind/prometheus",
			"patch helmrelease "+operator+` --type=merge -p {"spec": {"values": {"monitoring": {"serviceMonitor": {"enabled": true}, `+
				`"prometheusRule": {"enabled": true}}}}}`)
	}
}

func TestAReleaseThatDoesNotGetReadyIsExplained(t *testing.T) {
	output, calls, err := ways["flux"](t).set(map[string]string{"FAKE_NOT_READY": "helmrelease/openbao"}).run(t)
	if err == nil || !strings.Contains(output, "InstallFailed: no such image") || !strings.Contains(output, "describe helmrelease openbao") {
		t.Errorf("%v: it says %s", err, output)
	}
	if strings.Contains(calls, "bootstrap.sh") || !strings.Contains(output, "FAILED") {
		t.Errorf("it goes on:\n%s", output)
	}
}

func TestTeardownDeletesOurKindCluster(t *testing.T) {
	for _, way := range []string{"flux", "modules"} {
		if _, calls := ways[way](t).mustRun(t, "--teardown"); !strings.Contains(calls, "cluster-down") {
			t.Errorf("%s:\n%s", way, calls)
		}
	}
}

func TestTeardownOfAnExistingClusterStopsIfDataWouldBeLost(t *testing.T) {
	m := ways["current"](t).set(map[string]string{"FAKE_CRDS": "keystones.keystone.openstack.c5c3.io mariadbs.k8s.mariadb.com"})
	_, calls := m.mustRun(t, "--teardown")
	inOrder(t, calls, "kustomize "+m.dir+"/deploy/infrastructure", "kustomize "+m.dir+"/deploy/flux-system")
	if strings.Contains(calls, "deploy/namespaces") {
		t.Error("it deletes namespaces")
	}
	for kind, object := range map[string]string{
		"keystones.keystone.openstack.c5c3.io": `{"namespace": "openstack", "name": "keystone"}`,
		"mariadbs.k8s.mariadb.com":             `{"namespace": "shop", "name": "openstack-db"}`,
	} {
		m := ways["current"](t).set(map[string]string{"FAKE_CRDS": kind})
		m.write(t, "items-"+kind+".json", `{"items": [{"metadata": `+object+`}]}`)
		if output, calls, err := m.run(t, "--teardown"); err == nil || !strings.Contains(output, kind) || strings.Contains(calls, "delete") {
			t.Errorf("%s: it says %s and calls\n%s", kind, output, calls)
		}
	}
	m = ways["current"](t).set(map[string]string{"FAKE_CRDS": "mariadbs.k8s.mariadb.com"})
	m.write(t, "items-mariadbs.k8s.mariadb.com.json", `{"items": [{"metadata": {"namespace": "openstack", "name": "openstack-db"}}]}`)
	m.mustRun(t, "--teardown")
}
