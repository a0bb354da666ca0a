package main

import (
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/pki"
	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

const scripts = "../../deploy/openbao/bootstrap"

const twoControlPlanes = "openstack/controlplane team-a/identity"

// kubectl is a fake that handles one Secret, the objects that a test adds, and
// commands in the pod of the store. It records its arguments.
const kubectl = `#!/bin/bash
set -euo pipefail
printf '%s\n' "$*" >>"$FAKE/calls"
if [[ -n ${FAKE_REFUSES:-} ]] && printf '%s\n' "$@" | grep -qxF "$FAKE_REFUSES"; then
	echo forbidden >&2
	exit 1
fi
case "$*" in
*" exec -i openbao-0 -- "*) shift 6; PATH=$FAKE/pod exec "$@" ;;
*" get pods "*) echo openbao-0 ;;
*" get secret openbao-init-keys --ignore-not-found -o json") cat "$FAKE/secret.json" 2>/dev/null || true ;;
"create secret generic "*) echo '{"kind": "Secret", "metadata": {"name": "openbao-init-keys"}}' ;;
"apply --server-side -f -") cat >"$FAKE/secret.json" ;;
*" patch secret openbao-init-keys --type=merge --patch-file=/dev/stdin")
	jq -s '.[0] * .[1]' "$FAKE/secret.json" - >"$FAKE/patched"; mv "$FAKE/patched" "$FAKE/secret.json" ;;
"-n team-a get "*" -o json") cat "$FAKE/objects/$4-$5.json" ;;
*) echo "unexpected: kubectl $*" >&2; exit 1 ;;
esac
`

// bao is a fake that records its arguments, as a process list would show them.
const bao = `#!/bin/bash
printf 'bao %s\n' "$*" >>"$FAKE/calls"
exec "$FAKE/bao" "$@"
`

// cluster is a store in its pod, together with its administrator outside.
type cluster struct {
	dir, data string
	variables map[string]string
	// said is the output of all scripts.
	said string
}

// links are the names under which the store's program is called, as it is in its image.
var links = []string{"bao", "pod/env", "pod/sh"}

// TestMain lets the test's binary be the programs that the cluster has links for.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	if slices.ContainsFunc(links, func(link string) bool { return filepath.Base(link) == name }) {
		os.Exit(run(os.Args))
	}
	os.Exit(m.Run())
}

// start starts an empty store.
func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{dir: t.TempDir(), data: t.TempDir()}
	c.serve(t)
	return c
}

// A setUp is what bootstrap.sh has left of an empty store and of its administrator.
type setUp struct {
	data, admin map[string]string
	said        string
}

var (
	once sync.Once
	done setUp
)

// bootstrapped returns a store that bootstrap.sh has set up for two ControlPlanes. The
// script runs once for all tests; each has a copy of the result.
func bootstrapped(t *testing.T) *cluster {
	t.Helper()
	once.Do(func() {
		c := start(t)
		c.variables["KORC_CONTROLPLANES"] = twoControlPlanes
		c.mustRun(t, "bootstrap.sh")
		done = setUp{c.files(t), contents(t, c.dir, "secret.json", "calls"), c.said}
	})
	if done.said == "" {
		t.Fatal("bootstrap.sh has failed in another test")
	}
	c := &cluster{dir: t.TempDir(), data: t.TempDir(), said: done.said}
	for name, content := range done.data {
		write(t, filepath.Join(c.data, name), content, 0o600)
	}
	for name, content := range done.admin {
		c.file(t, name, content, 0o600)
	}
	c.serve(t)
	c.variables["KORC_CONTROLPLANES"] = twoControlPlanes
	return c
}

// serve serves what the store keeps until the test ends.
func (c *cluster) serve(t *testing.T) {
	t.Helper()
	// Go reruns the tests when the variable changes; the scripts themselves are not seen.
	os.Getenv("FORGE_FILES_DEPLOY")
	handler, err := server.New(server.Options{Dir: c.data, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewUnstartedServer(handler)
	listener.TLS = c.certificates(t)
	listener.StartTLS()
	t.Cleanup(listener.Close)
	c.variables = map[string]string{
		"FAKE": c.dir, "BAO_ADDR": listener.URL, "PATH": c.dir + "/bin:" + os.Getenv("PATH"), "POD_TIMEOUT": "5",
		"VAULT_CACERT":      filepath.Join(c.dir, "tls/ca.crt"),
		"VAULT_CLIENT_CERT": filepath.Join(c.dir, "tls/tls.crt"),
		"VAULT_CLIENT_KEY":  filepath.Join(c.dir, "tls/tls.key"),
		// With the race detector each of our programs would sleep for a second at its end.
		"GORACE": "atexit_sleep_ms=0",
	}
	c.programs(t)
}

// programs are the programs on the path of the scripts, and those in the pod.
func (c *cluster) programs(t *testing.T) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.file(t, "bin/kubectl", kubectl, 0o755)
	c.file(t, "pod/bao", bao, 0o755)
	for _, name := range links {
		if err := os.Symlink(binary, filepath.Join(c.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *cluster) file(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	write(t, filepath.Join(c.dir, name), content, mode)
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) object(t *testing.T, name, content string) {
	t.Helper()
	c.file(t, "objects/"+name+".json", content, 0o600)
}

// run runs a script and returns its output.
func (c *cluster) run(t *testing.T, script string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(scripts, script), args...)
	for name, value := range c.variables {
		command.Env = append(command.Env, name+"="+value)
	}
	output, err := command.CombinedOutput()
	c.said += string(output)
	return string(output), err
}

func (c *cluster) mustRun(t *testing.T, script string, args ...string) string {
	t.Helper()
	output, err := c.run(t, script, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, output)
	}
	return output
}

// bao runs the tool as administrator.
func (c *cluster) bao(t *testing.T, args ...string) string {
	t.Helper()
	keys, err := server.ReadKeys(c.data)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(c.dir, "bao"), args...)
	command.Env = []string{"BAO_TOKEN=" + keys.RootToken}
	for name, value := range c.variables {
		command.Env = append(command.Env, name+"="+value)
	}
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("bao %v: %v\n%s", args, err, output)
	}
	return string(output)
}

// mounts returns the types of the enabled engines and logins by path.
func (c *cluster) mounts(t *testing.T, kind string) map[string]string {
	t.Helper()
	var list map[string]struct{ Type string }
	if err := json.Unmarshal([]byte(c.bao(t, kind, "list", "-format=json")), &list); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for path, mount := range list {
		types[path] = mount.Type
	}
	return types
}

// files returns everything that the store keeps.
func (c *cluster) files(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(c.data)
	if err != nil || len(entries) == 0 {
		t.Fatalf("found %v, %v", entries, err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return contents(t, c.data, names...)
}

// contents returns the contents of files of a folder by name.
func contents(t *testing.T, dir string, names ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(content)
	}
	return found
}

// kept is what the store keeps.
type kept struct {
	Policies map[string]string         `json:"policies"`
	Entries  map[string]map[string]any `json:"entries"`
}

func (c *cluster) kept(t *testing.T) (k kept) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.files(t)["store.json"]), &k); err != nil {
		t.Fatal(err)
	}
	return k
}

// entry returns a stored setting.
func (c *cluster) entry(t *testing.T, path string) map[string]any {
	t.Helper()
	return c.kept(t).Entries[path]
}

func (c *cluster) initialised(t *testing.T) bool {
	t.Helper()
	keys, err := server.ReadKeys(c.data)
	return err == nil && keys.Shares > 0
}

// showsNoSecret fails if a key, a token or a password was an argument or in the output.
func (c *cluster) showsNoSecret(t *testing.T) {
	t.Helper()
	calls, err := os.ReadFile(filepath.Join(c.dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := server.ReadKeys(c.data)
	if err != nil {
		t.Fatal(err)
	}
	secrets := append([]string{keys.RootToken, "the-secret"}, keys.UnsealKeys...)
	secrets = append(secrets, strings.TrimSpace(c.bao(t, "kv", "get", "-mount=kv-v2", "-field=root-password", "infrastructure/mariadb")))
	for i, secret := range secrets {
		if strings.Contains(string(calls), secret) {
			t.Errorf("secret %d is an argument", i)
		}
		if strings.Contains(c.said, secret) {
			t.Errorf("secret %d is in the output", i)
		}
	}
	if !strings.Contains(string(calls), "bao kv put") {
		t.Error("the calls were not noted")
	}
}

// certificates writes the TLS files of the pod, and returns those that its server
// uses.
func (c *cluster) certificates(t *testing.T) *tls.Config {
	t.Helper()
	authority, err := pki.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := authority.Issue(pki.Subject{CommonName: "openbao", IPAddresses: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"ca.crt": authority.PEM, "tls.crt": certificate, "tls.key": key} {
		c.file(t, "tls/"+name, content, 0o600)
	}
	return server.Files(filepath.Join(c.dir, "tls"), tls.RequireAndVerifyClientCert)
}
