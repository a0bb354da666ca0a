package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnEmptyStoreIsSetUpAsDocumented(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	for path, want := range map[string]string{"kv-v2/": "kv", "pki/": "pki", "database/mariadb/": "database"} {
		if got := c.mounts(t, "secrets")[path]; got != want {
			t.Errorf("engine %s is %q", path, got)
		}
	}
	for _, cluster := range []string{"management", "control-plane", "hypervisor", "storage"} {
		if got := c.mounts(t, "auth")["kubernetes/"+cluster+"/"]; got != "kubernetes" {
			t.Errorf("login %s is %q", cluster, got)
		}
	}
	want := []string{
		"ci-cd-provisioner", "eso-control-plane", "eso-hypervisor", "eso-management", "eso-storage", "eso-tenant",
		"keystone-db-dynamic", "pki-issuer", "push-app-credentials", "push-barbican-keys", "push-ceph-keys", "push-keystone-admin",
		"push-keystone-keys",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(c.kept(t).Policies))); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	for role, want := range map[string][]string{
		"eso-tenant":     {"default", "*", "eso-tenant,push-keystone-keys,push-keystone-admin,push-barbican-keys,push-app-credentials"},
		"eso-management": {"openbao-infrastructure", "openbao-system", "eso-management"},
	} {
		entry := c.entry(t, "auth/kubernetes/management/role/"+role)
		var got []string
		for _, setting := range []string{"bound_service_account_names", "bound_service_account_namespaces", "token_policies"} {
			got = append(got, fmt.Sprint(entry[setting]))
		}
		if diff := cmp.Diff(want, got); diff != "" || entry["audience"] != "openbao" {
			t.Errorf("role %s for %v (-want +got):\n%s", role, entry["audience"], diff)
		}
	}
	for _, policy := range []string{
		"eso-control-plane", "eso-tenant", "keystone-db-dynamic", "push-app-credentials", "push-barbican-keys", "push-keystone-admin",
		"push-keystone-keys",
	} {
		got := c.bao(t, "policy", "read", policy)
		if strings.Contains(got, "ACCESSOR") || !strings.Contains(got, "aliases.auth_kubernetes_") {
			t.Errorf("the policy %s is %s", policy, got)
		}
	}
}

func TestBootstrapSecretsAreRandomAndManagedByExternalSecrets(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	passwords := map[string]bool{}
	for path, field := range map[string]string{
		"infrastructure/mariadb":                          "root-password",
		"openstack/keystone/standalone/db":                "password",
		"openstack/keystone/openstack/controlplane/db":    "password",
		"openstack/placement/openstack/controlplane/db":   "password",
		"bootstrap/openstack/controlplane-keystone/admin": "password",
		"bootstrap/team-a/identity-keystone/admin":        "password",
		"openstack/keystone/team-a/identity/db":           "password",
	} {
		password := strings.TrimSpace(c.bao(t, "kv", "get", "-mount=kv-v2", "-field="+field, path))
		if len(password) != 64 || passwords[password] {
			t.Errorf("%s has a value of %d characters, or one that was there before", path, len(password))
		}
		passwords[password] = true
	}
	if got := c.bao(t, "kv", "get", "-mount=kv-v2", "-field=username", "openstack/keystone/standalone/db"); got != "keystone\n" {
		t.Errorf("the user is %q", got)
	}
	for _, path := range []string{"bootstrap/openstack/controlplane-keystone/admin", "bootstrap/team-a/identity-keystone/admin"} {
		if got := c.bao(t, "kv", "metadata", "get", "-mount=kv-v2", path); !strings.Contains(got, `"managed-by": "external-secrets"`) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestASecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	before := c.files(t)
	output := c.mustRun(t, "bootstrap.sh")
	if diff := cmp.Diff(before, c.files(t)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	for _, word := range []string{"initialised", "unsealed", "enabled", "wrote"} {
		if strings.Contains(output, word) {
			t.Errorf("it says that it has changed something: %s", output)
		}
	}
}

func TestASealedStoreIsOpenedAgain(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	c.bao(t, "operator", "seal")
	if output := c.mustRun(t, "init-unseal.sh"); output != "unsealed openbao-0\n" {
		t.Errorf("it says %q", output)
	}
	c.bao(t, "status")
}

func TestExistingPasswordsAreKept(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.mustRun(t, "init-unseal.sh")
	c.mustRun(t, "setup-secret-engines.sh")
	c.bao(t, "kv", "put", "-mount=kv-v2", "infrastructure/mariadb", "root-password=mine")
	c.mustRun(t, "write-bootstrap-secrets.sh")
	if got := c.bao(t, "kv", "get", "-mount=kv-v2", "-field=root-password", "infrastructure/mariadb"); got != "mine\n" {
		t.Errorf("it is %q", got)
	}
}

func TestAStoreWithLostDataIsNotReinitialised(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	lost := start(t)
	if err := os.Rename(filepath.Join(c.dir, "secret.json"), filepath.Join(lost.dir, "secret.json")); err != nil {
		t.Fatal(err)
	}
	if output, err := lost.run(t, "bootstrap.sh"); err == nil || !strings.Contains(output, "restore its data") {
		t.Errorf("it says %q", output)
	}
	if lost.initialised(t) {
		t.Error("it has new keys")
	}
}

func TestTheStoreIsNotInitialisedIfItsKeysCannotBeSaved(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.variables["FAKE_REFUSES"] = "apply"
	if output, err := c.run(t, "bootstrap.sh"); err == nil {
		t.Errorf("it says %q", output)
	}
	if c.initialised(t) {
		t.Error("it has keys that nobody knows")
	}
}

func TestUnsealKeysAreWrittenToAFileIfTheirSecretIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.variables["FAKE_REFUSES"] = "patch"
	c.variables["TMPDIR"] = t.TempDir()
	output, err := c.run(t, "bootstrap.sh")
	files, _ := filepath.Glob(filepath.Join(c.variables["TMPDIR"], "openbao-init-keys.*"))
	if err == nil || len(files) != 1 || !strings.Contains(output, files[0]) {
		t.Fatalf("it says %q, and left %v", output, files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

func TestAConflictingSecretEngineIsReported(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.mustRun(t, "init-unseal.sh")
	c.bao(t, "secrets", "enable", "-path=kv-v2", "pki")
	if output, err := c.run(t, "setup-secret-engines.sh"); err == nil || !strings.Contains(output, "at kv-v2/ is an engine of type pki") {
		t.Errorf("it says %q", output)
	}
}

func TestStorePathsArePrefixedWithTheClusterName(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.variables["STORE_CLUSTER"] = "east"
	c.mustRun(t, "bootstrap.sh")
	c.bao(t, "kv", "get", "-mount=kv-v2", "-field=password", "east/bootstrap/openstack/controlplane-keystone/admin")
	got := c.bao(t, "policy", "read", "push-keystone-keys")
	if !strings.Contains(got, `"kv-v2/data/east/openstack/keystone/{{identity.entity.aliases.`) {
		t.Errorf("the policy is %s", got)
	}
}

func TestATenantGetsUsersOfItsOwnDatabase(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	c.object(t, "controlplanes.c5c3.io-controlplane",
		`{"spec": {"infrastructure": {"database": {"clusterRef": {"name": "openstack-db"}, "database": "keystone"}}}}`)
	output, err := c.run(t, "setup-database-tenant.sh", "team-a", "controlplane")
	if err == nil || !strings.Contains(output, "no MariaDB team-a/openstack-db yet") {
		t.Errorf("without a MariaDB it says %q", output)
	}
	c.object(t, "mariadbs.k8s.mariadb.com-openstack-db", `{"spec": {"rootPasswordSecretKeyRef": {"name": "root", "key": "password"}}}`)
	c.object(t, "secret-root", `{"data": {"password": "dGhlLXNlY3JldA=="}}`)
	for range 2 {
		c.mustRun(t, "setup-database-tenant.sh", "team-a", "controlplane")
	}
	config := c.entry(t, "database/mariadb/config/keystone-team-a")
	if config["password"] != "the-secret" || config["connection_url"] != "{{username}}:{{password}}@tcp(openstack-db.team-a.svc:3306)/" {
		t.Errorf("the connection is %v", slices.Sorted(maps.Keys(config)))
	}
	role := c.entry(t, "database/mariadb/roles/keystone-team-a")
	statements, _ := json.Marshal(role["creation_statements"])
	if role["default_ttl"] != "48h" || role["max_ttl"] != "72h" || !strings.Contains(string(statements), "ON `keystone`.* TO '{{name}}'@'%'") {
		t.Errorf("the role is %v", role)
	}
	c.object(t, "controlplanes.c5c3.io-brownfield", `{"spec": {"infrastructure": {"database": {"host": "db"}}}}`)
	output, err = c.run(t, "setup-database-tenant.sh", "team-a", "brownfield")
	if err == nil || !strings.Contains(output, "somebody else's") {
		t.Errorf("with a database elsewhere it says %q", output)
	}
	c.showsNoSecret(t)
}

func TestNoSecretIsInAProcessListOrInTheOutput(t *testing.T) {
	t.Parallel()
	c := bootstrapped(t)
	c.bao(t, "operator", "seal")
	c.mustRun(t, "bootstrap.sh")
	c.showsNoSecret(t)
}
