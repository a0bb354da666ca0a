package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

// Values of the Secrets in these tests. The second one is written differently in
// a URL, in JSON and in YAML.
const (
	plainPassword   = "correcthorsebatterystaple"
	strangePassword = `>>>???p@ss "wörd"/+ with \ and 100%`
)

func platformSecrets() []corev1.Secret {
	return []corev1.Secret{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "keystone-db"}, Type: corev1.SecretTypeOpaque,
			Data: map[string][]byte{"username": []byte("keystone"), "password": []byte(plainPassword)},
		},
		{ObjectMeta: metav1.ObjectMeta{Name: "keystone-admin"}, Data: map[string][]byte{"password": []byte(strangePassword + "\n")}},
		{ObjectMeta: metav1.ObjectMeta{Name: "k-orc-clouds-yaml"}, Data: map[string][]byte{"clouds.yaml": []byte(
			"clouds:\n  admin:\n    auth:\n      application_credential_id: an-id\n      application_credential_secret: inner-credential-value\n")}},
	}
}

// forbiddenForms are all forms in which a value must not be in an archive.
func forbiddenForms() []string {
	var all []string
	for _, value := range []string{plainPassword, strangePassword, "inner-credential-value"} {
		all = append(all, value, url.QueryEscape(value), url.PathEscape(value),
			base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
			base64.StdEncoding.EncodeToString([]byte(value+"\n")))
	}
	return append(all,
		`\u003e\u003e\u003e???p@ss \"wörd\"/+ with \\ and 100%`, // Go's JSON
		`>>>???p@ss \"wörd\"/+ with \\ and 100%`,
		`>>>???p@ss \"w\u00f6rd\"/+ with \\ and 100%`, // Python's
	)
}

// leaky is a namespace in which every place that is written holds a value of a
// Secret.
func leaky() Contents {
	found := testutil.UnreachableDatabase()
	k := testutil.KeystoneIn(found)
	everything := strings.Join(forbiddenForms(), " ")
	k.Annotations = map[string]string{
		corev1.LastAppliedConfigAnnotation: `{"password":"` + plainPassword + `"}`, "note": everything,
	}
	k.Spec.ExtraConfig = map[string]map[string]string{"ldap": {"password": "typed-into-the-spec", "url": "ldap://user:in-a-url@ldap"}}
	k.Status.Conditions[0].Message = everything
	found.Events = []corev1.Event{testutil.Warning("Pod", &found.Pods[0], "Failed", everything)}
	found.Pods[0].Spec.Containers = []corev1.Container{{Name: "db-sync", Args: []string{everything}, Env: []corev1.EnvVar{
		{Name: "OS_PASSWORD", Value: "typed-into-a-variable"}, {Name: "OS_USERNAME", Value: "admin"},
	}}}
	found.Gaps = []error{errors.New("you may not list secrets")}
	return Contents{
		Inventory: found, Secrets: platformSecrets(),
		ConfigMaps: []corev1.ConfigMap{{
			ObjectMeta: metav1.ObjectMeta{Name: "keystone-config"},
			Data: map[string]string{"keystone.conf": "[DEFAULT]\ndebug = true\n[database]\nconnection = mysql+pymysql://keystone:" +
				url.QueryEscape(strangePassword) + "@mariadb/keystone\n[token]\nexpiration = 3600\n[ldap]\npassword = typed-into-a-file\n"},
		}},
		Logs: map[string]string{
			"logs/pod/db-sync.log": everything + "\nX-Auth-Token: a-token-of-somebody\npassword=typed-into-a-log\n" +
				"token gAAAAABm0123456789012345678901234567890123456789==\n-----BEGIN RSA PRIVATE KEY-----\nMIIkey\n-----END RSA PRIVATE KEY-----\n",
			"logs/pod/db-sync.previous.log": "could not be read: gone\n",
		},
		Pages: map[string]string{"status.txt": everything},
	}
}

func files(t *testing.T, c Contents) []File {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	all, err := Files(c, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNoValueOfASecretIsInABundle(t *testing.T) {
	forms := append(forbiddenForms(), "typed-into-the-spec", "in-a-url", "typed-into-a-variable", "typed-into-a-file",
		"typed-into-a-log", "a-token-of-somebody", "gAAAAABm0123456789", "MIIkey")
	for _, file := range files(t, leaky()) {
		for _, form := range forms {
			if strings.Contains(file.Content, form) {
				t.Errorf("%s holds %q:\n%s", file.Name, form, file.Content)
			}
		}
	}
}

func TestARedactedBundleKeepsTheDiagnosticContent(t *testing.T) {
	byName := map[string]string{}
	for _, file := range files(t, leaky()) {
		byName[file.Name] = file.Content
	}
	for name, want := range map[string]string{
		"objects/configmap/keystone-config.yaml":                    "expiration = 3600",
		"objects/keystone.keystone.openstack.c5c3.io/keystone.yaml": "name: keystone-db",
		"objects/pod/keystone-db-sync-q8v4n.yaml":                   "value: admin",
		"secrets.txt":                   "keystone-db, type Opaque, keys: password, username",
		"gaps.txt":                      "you may not list secrets",
		"logs/pod/db-sync.previous.log": "could not be read: gone",
		"events.txt":                    "Warning Failed Pod/keystone-db-sync-q8v4n",
		"objects/job.batch/keystone-db-sync.yaml": "kind: Job",
	} {
		if !strings.Contains(byName[name], want) {
			t.Errorf("%s does not hold %q:\n%s", name, want, byName[name])
		}
	}
}

func TestValuesThatLookSecretAreRedactedWithoutReadingSecrets(t *testing.T) {
	redactor := Redactor{}
	golden.Compare(t, "redacted.txt", redactor.Text(strings.Join([]string{
		"connection = mysql+pymysql://keystone:pw@mariadb/keystone",
		"admin_password: hunter22",
		`{"password": "hunter22", "user": "admin"}`,
		"OS_PASSWORD='hunter 22' openstack user list",
		"curl -H 'X-Subject-Token: abcdef' http://keystone:5000/v3",
		"Authorization: Bearer abc.def-ghi",
		"Access denied for user 'keystone'@'10.0.0.1' (using password: YES)",
		"provider = fernet",
		"Secret keystone-db is missing: create it with the keys username, password",
	}, "\n")))
}

func TestAShortValueDoesNotRedactOrdinaryWords(t *testing.T) {
	redactor := NewRedactor([]corev1.Secret{{Data: map[string][]byte{"password": []byte("no"), "username": []byte("keystone")}}})
	const text = "keystone is not ready"
	if got := redactor.Text(text); got != text {
		t.Errorf("got %q", got)
	}
}

func TestAnArchiveHoldsItsFilesBelowItsFolder(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, "folder", []File{{"a/b.txt", "one"}, {"c.txt", ""}}, testutil.Now); err != nil {
		t.Fatal(err)
	}
	compressed, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(compressed)
	for _, want := range []File{{"folder/a/b.txt", "one"}, {"folder/c.txt", ""}} {
		header, err := archive.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Name != want.Name || string(content) != want.Content || header.Mode != 0o600 {
			t.Errorf("got %s with %q and mode %o, expected %+v", header.Name, content, header.Mode, want)
		}
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, expected the end", err)
	}
}

func FuzzRedactor(f *testing.F) {
	f.Add(plainPassword, "before ", " after")
	f.Add(strangePassword, "password = ", "\n")
	f.Fuzz(func(t *testing.T, value, before, after string) {
		trimmed := strings.TrimSpace(value)
		if len(trimmed) < minLength || strings.Contains(redacted, trimmed) {
			return
		}
		redactor := NewRedactor([]corev1.Secret{{Data: map[string][]byte{"password": []byte(value)}}})
		// What surrounds the value may hold it, too, or complete it.
		text := before + "\x00" + value + "\x00" + after
		if got := redactor.Text(text); strings.Contains(strings.ReplaceAll(got, redacted, "\x00"), trimmed) {
			t.Errorf("%q is still in %q", trimmed, got)
		}
	})
}
