package deployinfra

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// tools are the only programs of the machine on the path of the scripts.
var tools = []string{
	"awk", "base64", "basename", "bash", "cat", "date", "dirname", "env", "grep", "head", "jq", "ls", "mkdir", "mktemp", "mv", "od",
	"rm", "sed", "sha256sum", "sleep", "sort", "tr",
}

// note makes a program record its name and its arguments. It starts no other program,
// because the scripts make thousands of calls.
const note = `#!/bin/bash
set -euo pipefail
printf '%s %s\n' "${0##*/}" "$*" >>"$FAKE/calls"
`

// forwarded makes a program also record the values of variables that it passes on
// to other programs.
func forwarded(variables string) string {
	return "for name in " + variables + `; do
	printf '  %s=%s\n' "$name" "${!name-unset}" >>"$FAKE/calls"
done
`
}

// forStore are variables that the scripts of OpenBao read.
const forStore = "BAO_ADDR KORC_CONTROLPLANES OPENBAO_NAMESPACE STORE_CLUSTER VAULT_CACERT VAULT_CLIENT_CERT VAULT_CLIENT_KEY"

// forModules are the variables that modules.sh, its makefile and the scripts of the cluster read in addition.
const forModules = "CLUSTER_NAME KIND_HOST_PORT NODE_NOFILE_LIMIT " +
	"CONTROLPLANE_CACHE_REPLICAS CONTROLPLANE_DB_REPLICAS CONTROLPLANE_DB_STORAGE CONTROLPLANE_NAME CONTROLPLANE_OPERATORS " +
	"DB_CREDS_DEFAULT_TTL DB_CREDS_MAX_TTL EXTERNALSECRET_TIMEOUT HELMRELEASE_TIMEOUT INFRA POD_TIMEOUT WITH_CONTROLPLANE WITH_CONTROLPLANE_CR"

// secrets abbreviates the output of Kustomize for deploy/kind/secrets.
const secrets = `kind: ExternalSecret
metadata:
  name: keystone-admin
---
kind: ExternalSecret
metadata:
  name: keystone-db
`

// fakes replace the programs that change something. Variables that start with FAKE_
// set their answers.
var fakes = map[string]string{
	"kubectl": note + `case "$*" in
"config current-context") [[ -n ${FAKE_CONTEXT:-} ]] && echo "$FAKE_CONTEXT" ;;
"config view --minify -o "*) echo "${FAKE_SERVER:-https://api.example.com}" ;;
*" --show-managed-fields "*) printf %s "${FAKE_MANAGERS:-}" ;;
*" get secrets -l owner=helm,"*) printf %s "${FAKE_HELM:-}" ;;
"config view --minify --flatten --raw") echo "kubeconfig of ${FAKE_CONTEXT:-}" ;;
*" wait "*"${FAKE_NOT_READY:-nothing}"*) exit 1 ;;
"get crd gateways.gateway.networking.k8s.io "*) printf %s "${FAKE_GATEWAY_API:-}" ;;
*" get crd -o name") printf '%s\n' ${FAKE_KINDS:-} ;;
"get crd "*) [[ " ${FAKE_CRDS:-} " == *" $3 "* ]] ;;
"get "*" --all-namespaces -o json") cat "$FAKE/items-$2.json" 2>/dev/null || echo '{"items": []}' ;;
"kustomize "*/deploy/kind/secrets) cat "$FAKE/secrets.yaml" ;;
"kustomize "*) cat "$FAKE/kustomize.yaml" 2>/dev/null || true ;;
"-n openstack get mariadb/openstack-db memcached/openstack-memcached "*ControlPlane*) printf %s "${FAKE_CONTROLPLANE:-}" ;;
"-n openstack get secret "*) printf %s "${FAKE_SECRET_OWNER:+$5$FAKE_SECRET_OWNER}" ;;
*" get helmrelease "*) echo 'Ready False InstallFailed: no such image' ;;
*"-f -"*) sed -n 's/^  name: /  applied /p' >>"$FAKE/calls" ;;
"patch --local "*) echo '{}' ;;
*" create configmap "*) echo '{}' ;;
esac
`,
	"curl":     note + `[[ -z ${FAKE_NO_CHARTS:-} ]]` + "\n",
	"make":     note + forwarded(forStore+" "+forModules) + `[[ $* != *" cluster-up" ]] || echo kubeconfig >"$FAKE/kubeconfig"` + "\n",
	"modprobe": note + "exit 1\n",
}

// machine is a checkout on a machine with the fakes that the test chooses.
type machine struct {
	dir       string
	variables map[string]string
}

func newMachine(t *testing.T, programs ...string) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir(), variables: map[string]string{}}
	for _, name := range tools {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("%v: hack/tools/install-debian-packages.sh installs what is missing", err)
		}
		m.link(t, path, "bin/"+name)
	}
	for _, name := range programs {
		m.write(t, "bin/"+name, fakes[name])
	}
	full, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"hack/deploy-infra.sh", "hack/deploy-infra", "hack/kind-config.yaml", "hack/quickstart", "hack/tools/operators.sh", "operators",
		"workshop/deploy",
		"deploy/namespaces", "deploy/flux-system", "deploy/infrastructure", "deploy/kind", "deploy/local",
		"deploy/quickstart", "deploy/controlplane",
	} {
		m.link(t, outside.File(filepath.Join(full, path)), path)
	}
	m.write(t, "deploy/openbao/bootstrap/bootstrap.sh", note+forwarded(forStore))
	m.write(t, "deploy/openbao/bootstrap/setup-database-tenant.sh", note+forwarded("DB_CREDS_DEFAULT_TTL DB_CREDS_MAX_TTL"))
	return m
}

func (m *machine) link(t *testing.T, target, name string) {
	t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// set returns the same machine with further variables.
func (m *machine) set(variables map[string]string) *machine {
	maps.Copy(m.variables, variables)
	return m
}

// run runs deploy-infra.sh and returns its output and the recorded calls.
func (m *machine) run(t *testing.T, args ...string) (output, calls string, err error) {
	t.Helper()
	return m.start(t, "hack/deploy-infra.sh", args...)
}

func (m *machine) start(t *testing.T, script string, args ...string) (output, calls string, err error) {
	t.Helper()
	_ = os.Remove(filepath.Join(m.dir, "calls"))
	command := exec.CommandContext(t.Context(), filepath.Join(m.dir, script), args...)
	command.Env = []string{"PATH=" + filepath.Join(m.dir, "bin"), "FAKE=" + m.dir, "HOME=" + m.dir, "TMPDIR=" + m.dir}
	for _, name := range slices.Sorted(maps.Keys(m.variables)) {
		command.Env = append(command.Env, name+"="+m.variables[name])
	}
	out, err := command.CombinedOutput()
	noted, _ := os.ReadFile(filepath.Join(m.dir, "calls"))
	return string(out), string(noted), err
}

// modules runs the part of deploy-infra that needs no charts of others.
func (m *machine) modules(t *testing.T, parts ...string) (output, calls string, err error) {
	t.Helper()
	m.write(t, "secrets.yaml", secrets)
	m.write(t, ".cache/bin/kubectl", fakes["kubectl"])
	return m.start(t, "workshop/deploy/modules.sh", parts...)
}

func (m *machine) mustRun(t *testing.T, args ...string) (output, calls string) {
	t.Helper()
	output, calls, err := m.run(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s\ncalls:\n%s", err, output, calls)
	}
	return output, calls
}

// inOrder fails unless the calls contain all texts in this order.
func inOrder(t *testing.T, calls string, texts ...string) {
	t.Helper()
	rest := calls
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Fatalf("%q is missing, or comes too early, in\n%s", text, calls)
		}
		rest = after
	}
}
