package deployinfra

import (
	"strings"
	"testing"
)

func TestTheLocalClusterHasTheDependenciesOfTheSamples(t *testing.T) {
	m := newMachine(t).set(map[string]string{"EXTERNALSECRET_TIMEOUT": "121", "HELMRELEASE_TIMEOUT": "601"})
	output, calls, err := m.modules(t, "openstack")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, calls)
	}
	inOrder(t, calls,
		"deploy/quickstart/namespace.yaml", "deploy/local/database", "deploy/kind/cache", "applied keystone-admin", "applied keystone-db",
		"--timeout=121s externalsecret/mariadb-root-password externalsecret/keystone-admin externalsecret/keystone-db",
		"--timeout=601s mariadb/openstack-db memcached/openstack-memcached",
	)
}

func TestExistingQuickStartSecretsAreNotOverwritten(t *testing.T) {
	m := newMachine(t).set(map[string]string{"FAKE_SECRET_OWNER": ":"})
	output, calls, err := m.modules(t, "openstack")
	said := strings.Contains(output, "Secret openstack/keystone-db already exists and stays")
	if err != nil || strings.Contains(calls, "applied keystone-") || !said {
		t.Errorf("%v\n%s\n%s", err, output, calls)
	}
	m.set(map[string]string{"FAKE_SECRET_OWNER": ":ExternalSecret"})
	if output, calls, err = m.modules(t, "openstack"); err != nil || !strings.Contains(calls, "applied keystone-db") {
		t.Errorf("those of the secret store: %v\n%s\n%s", err, output, calls)
	}
}

func TestInfrastructureOwnedByAControlPlaneIsNotOverwritten(t *testing.T) {
	const name = "identity"
	owned := map[string]string{"FAKE_CONTROLPLANE": name}
	modulesOutput, modulesCalls, modulesErr := newMachine(t).set(owned).modules(t, "openstack")
	fluxOutput, fluxCalls, fluxErr := ways["flux"](t).set(owned).run(t)
	for way, got := range map[string]struct {
		output, calls string
		err           error
	}{"modules": {modulesOutput, modulesCalls, modulesErr}, "flux": {fluxOutput, fluxCalls, fluxErr}} {
		said := strings.Contains(got.output, "belong to the ControlPlane "+name) && strings.Contains(got.output, "WITH_CONTROLPLANE=true")
		written := strings.Contains(got.calls, "deploy/local/database") || strings.Contains(got.calls, "deploy/kind/infrastructure\n")
		if got.err == nil || !said || written {
			t.Errorf("%s: %v\n%s\n%s", way, got.err, got.output, got.calls)
		}
	}
}

func TestTheLocalClusterGetsOurOperatorsByTheirCharts(t *testing.T) {
	m := newMachine(t)
	m.write(t, ".cache/bin/helm", note)
	var parts, wanted []string
	for _, operator := range operators(t) {
		app, namespace := operator+"-operator", operator+"-system"
		m.write(t, ".cache/images/"+app+"/manager", "a program")
		parts = append(parts, app)
		wanted = append(wanted,
			"helm upgrade --install "+app+" "+m.dir+"/operators/"+operator+"/helm/"+app+" --namespace "+namespace,
			"kubectl -n "+namespace+" rollout status deployment/"+app)
	}
	output, calls, err := m.modules(t, parts...)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, calls)
	}
	for _, call := range wanted {
		if !strings.Contains(calls, call) {
			t.Errorf("%q is missing in\n%s", call, calls)
		}
	}
}

func TestTheLocalClusterGetsAControlPlane(t *testing.T) {
	m := newMachine(t).set(map[string]string{
		"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true", "CONTROLPLANE_NAME": "identity", "DB_CREDS_MAX_TTL": "80h",
		"KORC_CONTROLPLANES": "openstack/identity",
	})
	output, calls, err := m.modules(t)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, calls)
	}
	inOrder(t, calls, `"name": "identity"`, `"keystone": {}`, "setup-database-tenant.sh openstack identity", "DB_CREDS_MAX_TTL=80h")
	if strings.Contains(calls, "openstack-gw") {
		t.Error("it is published by a Gateway that was not deployed")
	}
}

// TestTheLocalClusterHonoursForwardedVariables complements
// TestEveryVariableHasAnEffectOrIsRefusedByName, which for the local cluster only
// sees that make is called.
func TestTheLocalClusterHonoursForwardedVariables(t *testing.T) {
	needed := map[string]string{"WITH_CONTROLPLANE": "true", "WITH_CONTROLPLANE_CR": "true"}
	run := func(variable, value string) string {
		m := newMachine(t).set(needed)
		if variable != "" {
			m.set(map[string]string{variable: value})
		}
		output, calls, err := m.modules(t, "openstack")
		if err != nil {
			t.Fatalf("%s=%s: %v\n%s\n%s", variable, value, err, output, calls)
		}
		return m.lasting(calls)
	}
	plain := run("", "")
	for variable, value := range map[string]string{
		"EXTERNALSECRET_TIMEOUT": "121", "HELMRELEASE_TIMEOUT": "601",
		"CONTROLPLANE_CACHE_REPLICAS": "2", "CONTROLPLANE_DB_REPLICAS": "3", "CONTROLPLANE_DB_STORAGE": "2Gi", "CONTROLPLANE_NAME": "other",
		"DB_CREDS_DEFAULT_TTL": "1h", "DB_CREDS_MAX_TTL": "90h",
	} {
		if run(variable, value) == plain {
			t.Errorf("%s has no effect on\n%s", variable, plain)
		}
	}
}
