//go:build integration

package cli

import (
	"archive/tar"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

const password = "a-password-that-is-secret"

func storeSecret(t *testing.T, namespace, name, key, value string) {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{key: value},
	}
	if err := admin.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// unpack returns the contents of the files of an archive by their names without
// its folder.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	archive, files := tar.NewReader(compressed), map[string]string{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(header.Name, "/")
		files[name] = string(content)
	}
}

func TestABundleOfANamespaceHoldsNoValueOfItsSecrets(t *testing.T) {
	u := as(t, "operator")
	k := brokenKeystone(t, u.namespace)
	storeSecret(t, u.namespace, "keystone-admin", "password", password)
	encoded := base64.StdEncoding.EncodeToString([]byte(password))
	u.session.Logs = logs("the password is " + password + ", encoded " + encoded + "\n")
	announce(t, k, "Failed", "refused "+password)
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	u.run(t, "support-bundle", "--file", path).expect(t, CodeOK, "wrote "+path)
	files := unpack(t, path)
	for name, content := range files {
		if strings.Contains(content, password) || strings.Contains(content, encoded) {
			t.Errorf("%s holds the password:\n%s", name, content)
		}
	}
	for name, want := range map[string]string{
		"secrets.txt": "keystone-admin, type Opaque, keys: password", "events.txt": "Failed Keystone/keystone: refused <redacted>",
		"status.txt": "Waiting for", "doctor.txt": "Kubernetes", "version.txt": "kubectl-forge",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not hold %q:\n%s", name, want, files[name])
		}
	}
}

func TestABundleWithoutTheRightToSecretsSaysSo(t *testing.T) {
	u := as(t, "viewer")
	brokenKeystone(t, u.namespace)
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	u.run(t, "support-bundle", "--file", path).expect(t, CodeOK, "gaps.txt in the archive lists them")
	if gaps := unpack(t, path)["gaps.txt"]; !strings.Contains(gaps, "you may not list secrets in namespace "+u.namespace) {
		t.Errorf("got the gaps\n%s", gaps)
	}
}

func TestAnArchiveIsNotWrittenOverAnotherFile(t *testing.T) {
	u := as(t, "viewer")
	readyKeystone(t, u.namespace)
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run(t, "support-bundle", "--file", path).expect(t, CodeError, "file exists")
	if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
		t.Errorf("got %q, %v", content, err)
	}
}

func TestLoginWritesTheCloudsYamlOfTheAdministrator(t *testing.T) {
	u := as(t, "operator")
	readyKeystone(t, u.namespace)
	u.run(t, "login", "--clouds-yaml").expect(t, CodeNotReady, "secret keystone-admin has no key password yet")
	storeSecret(t, u.namespace, "keystone-admin", "password", password)
	u.run(t, "login", "--clouds-yaml").expect(t, CodeOK, "password: "+password, "auth_url: http://keystone.openstack.svc")
	path := filepath.Join(t.TempDir(), "clouds.yaml")
	if r := u.run(t, "login", "--file", path); strings.Contains(r.String(), password) || r.code != CodeOK {
		t.Errorf("the file was asked for:\n%s", r)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestAControlPlaneLogsInWithItsApplicationCredential(t *testing.T) {
	u := as(t, "operator")
	store(t, u.namespace, testutil.ControlPlane(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady)))
	storeSecret(t, u.namespace, "k-orc-clouds-yaml", "clouds.yaml",
		"clouds: {admin: {auth: {auth_url: 'http://inside:5000/v3', application_credential_id: an-id}}}")
	u.run(t, "login", "--address", "https://outside/v3", "--", "/bin/sh", "-c", `echo "$OS_CLOUD"; cat "$OS_CLIENT_CONFIG_FILE"`).
		expect(t, CodeOK, "auth_url: https://outside/v3", "application_credential_id: an-id", "identity_endpoint_override: https://outside/v3")
	u.run(t, "login", "--address", "https://outside/v3", "--", "/bin/sh", "-c", "exit 7").expect(t, 7)
}

func TestLoginNamesTheMissingPermission(t *testing.T) {
	u := as(t, "viewer")
	readyKeystone(t, u.namespace)
	u.run(t, "login", "--clouds-yaml").expect(t, CodeMissingRight, "you may not get secrets in namespace "+u.namespace)
	limited := in(t, u.namespace, "operator")
	storeSecret(t, u.namespace, "keystone-admin", "password", password)
	limited.run(t, "login").expect(t, CodeError, "no API pod of Keystone keystone is ready")
	pod := testutil.APIPod(testutil.Installed(), "keystone-0", true, testutil.Running("keystone", true))
	pod.Spec.Containers = []corev1.Container{{Name: "keystone", Image: "keystone"}}
	store(t, u.namespace, &pod)
	limited.run(t, "login").expect(t, CodeMissingRight, "you may not create pods/portforward in namespace "+u.namespace)
}

var _ kube.LogReader = logs("")
