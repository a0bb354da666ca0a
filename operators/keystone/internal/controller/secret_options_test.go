package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/policy"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func withOptionsOf(key string) *keystonev1alpha1.Keystone {
	k := minimal()
	k.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "keystone-ldap", Key: key}
	return k
}

func userSecret(uid, key, content string) *corev1.Secret {
	secret := &corev1.Secret{Data: map[string][]byte{key: []byte(content)}}
	secret.Name, secret.UID = "keystone-ldap", types.UID(uid)
	return secret
}

func TestEveryPodThatReadsTheConfigurationReadsTheOptionsOfTheSecretAfterIt(t *testing.T) {
	s := scopeOf(installed(minimal()))
	rendered := service.Rendered{
		ConfigMap: "keystone-config-01234567", Secret: "keystone-extra-config-0123456789abcdef", SecretFile: secretOptionsFile,
	}
	service.Config.Put(s.Slots, rendered)
	templates := keystonesCode(t, s)
	templates["policy validation"] = jobOf(t, s, policy.ValidationTask(s.Pass)).Spec.Template
	want := &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To(int32(0o400)),
		Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: rendered.ConfigMap}}},
			{Secret: &corev1.SecretProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: rendered.Secret},
				Items:                []corev1.KeyToPath{{Key: "secret.conf", Path: "secret.conf"}},
			}},
		},
	}
	for name, template := range templates {
		if diff := cmp.Diff(want, configOf(template).Projected); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, configDir, diff)
		}
	}
	if "secret.conf" < "keystone.conf" {
		t.Error("oslo.config reads the files in the order of their names")
	}
}

func TestOtherOptionsOfASecretAreCheckedAgain(t *testing.T) {
	s := scopeOf(minimal())
	keys := map[string]bool{}
	for _, name := range []string{"", "keystone-extra-config-1", "keystone-extra-config-2"} {
		service.Config.Put(s.Slots, service.Rendered{ConfigMap: "keystone-config-01234567", Secret: name, SecretFile: secretOptionsFile})
		for _, described := range []deployment.Task{configCheckTask(s), policy.ValidationTask(s.Pass)} {
			keys[described.Name+jobOf(t, s, described).Annotations["forge.c5c3.io/pod-spec-hash"]] = true
		}
	}
	if len(keys) != 6 {
		t.Errorf("three states of the options lead to %d runs of the two checks, expected 6", len(keys))
	}
}

func TestTheCopyOfOptionsIsNamedAfterThemAndHoldsNothingElse(t *testing.T) {
	read := func(uid, content string) *corev1.Secret {
		t.Helper()
		got, err := newSecretOptions(withOptionsOf(""), userSecret(uid, "keystone.conf", content))
		if err != nil {
			t.Fatal(err)
		}
		return got.copied
	}
	base := read("1", "[LDAP]\n# a comment\nuser: cn=keystone\npassword=a b$$c\n")
	if diff := cmp.Diff("[ldap]\npassword = a b$$c\nuser = cn=keystone\n", string(base.Data["secret.conf"])); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(base.Name, "keystone-extra-config-") || !ptr.Deref(base.Immutable, false) || len(base.Data) != 1 {
		t.Errorf("got %+v with %d keys", base.ObjectMeta, len(base.Data))
	}
	if same := read("1", "[ldap]\npassword = a b$$c\nuser = cn=keystone\n"); same.Name != base.Name {
		t.Error("the same options under another name roll the pods")
	}
	if other := read("1", "[ldap]\npassword = a b$$d\nuser = cn=keystone\n"); other.Name == base.Name {
		t.Error("other options have the same name, so that the pods keep the old ones")
	}
	if foreign := read("2", "[ldap]\npassword = a b$$c\nuser = cn=keystone\n"); foreign.Name == base.Name {
		t.Error("the name tells that two Secrets have the same options")
	}
}

func TestOptionsOfASecretAreReadUnderItsKey(t *testing.T) {
	for key, wanted := range map[string]string{"": "keystone.conf", "ldap.conf": "ldap.conf"} {
		got, err := newSecretOptions(withOptionsOf(key), userSecret("1", wanted, "[a]\nb = c\n"))
		if err != nil || got.options["a"]["b"] != "c" {
			t.Errorf("key %q: got %v, error %v", key, got.options, err)
		}
	}
}

func TestWhatOsloConfigWouldReadOtherwiseIsRefusedWithoutShowingIt(t *testing.T) {
	for name, content := range map[string]string{
		"a continued value":            "[a]\nb = c\n  hunter2\n",
		"an option twice":              "[a]\nb = hunter2\nb = hunter2\n",
		"no section":                   "b = hunter2\n",
		"no option":                    "[a]\nhunter2\n",
		"a header without an end":      "[hunter2\n",
		"a line break of Python's":     "[a]\nb = c\u2028hunter2 = d\n",
		"a section in two spellings":   "[hunter2]\na = b\n[Hunter2]\nc = hunter2\n",
		"the operator's option":        "[token]\nprovider = hunter2\n",
		"the lifetime of tokens":       "[TOKEN]\nexpiration = hunter2\n",
		"a carriage return in a value": "[a]\nb = c\rhunter2 = d\n",
	} {
		_, err := newSecretOptions(withOptionsOf(""), userSecret("1", "keystone.conf", content))
		switch {
		case err == nil:
			t.Errorf("%s is accepted", name)
		case strings.Contains(strings.ToLower(fmt.Sprint(err)), "hunter2"):
			t.Errorf("%s: %q shows it", name, err)
		}
	}
}

func TestNothingThatIsCheckedDiffersFromWhatThePodsRead(t *testing.T) {
	// To us a comment, to Python three lines.
	hidden := "[a]\nb = c\n# \r[token]\rprovider = jws\n\u00a0[d=e]\n"
	got, err := newSecretOptions(withOptionsOf(""), userSecret("1", "keystone.conf", hidden))
	if err == nil && strings.Contains(string(got.copied.Data["secret.conf"]), "provider") {
		t.Errorf("the pods read %q", got.copied.Data["secret.conf"])
	}
}
