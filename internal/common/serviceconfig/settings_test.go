package serviceconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// settings declares a service that rejects one option because the operator owns it.
var settings = Settings[*service.Pass]{
	File:    "harbour.conf",
	Options: func(*service.Pass) ini.File { return ini.File{"DEFAULT": {"debug": "false", "pier": "one"}} },
	Files:   func(*service.Pass) (map[string]string, error) { return map[string]string{}, nil },
	Refused: func(options map[string]map[string]string) error {
		if _, set := options["operators"]["own"]; set {
			return errors.New("[operators] own is the operator's")
		}
		return nil
	},
	Check: Check{Register: "harbour.conf:register_opts"},
}

// withSecret is a pass over a resource whose spec.extraConfigSecretRef names a Secret
// with the content at the key.
func withSecret(t *testing.T, uid, key, content string) *service.Pass {
	t.Helper()
	h := instance.Brownfield()
	h.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "harbour-ldap"}
	if key != settings.File {
		h.Spec.ExtraConfigSecretRef.Key = key
	}
	secret := &corev1.Secret{Data: map[string][]byte{key: []byte(content)}}
	secret.Namespace, secret.Name, secret.UID = h.Namespace, "harbour-ldap", types.UID(uid)
	return passOf(t, h, secret)
}

func passOf(t *testing.T, h *instance.Harbour, objects ...client.Object) *service.Pass {
	t.Helper()
	p := instance.Pass(t, h, interceptor.Funcs{}, objects...)
	p.Refs = p.Client
	return p
}

// copyOf returns the Secret from which pods read the options.
func copyOf(t *testing.T, p *service.Pass) *corev1.Secret {
	t.Helper()
	if outcome := settings.Reconcile(t.Context(), p); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	copied := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), p.Key(service.Config.Value(p.Slots).Secret), copied); err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestTheSecretOptionsCopyIsNamedByAHashOfItsContent(t *testing.T) {
	read := func(uid, content string) *corev1.Secret {
		t.Helper()
		return copyOf(t, withSecret(t, uid, "harbour.conf", content))
	}
	base := read("1", "[LDAP]\n# a comment\nuser: cn=harbour\npassword=a b$$c\n")
	if diff := cmp.Diff("[ldap]\npassword = a b$$c\nuser = cn=harbour\n", string(base.Data["secret.conf"])); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(base.Name, "harbour-extra-config-") || !ptr.Deref(base.Immutable, false) || len(base.Data) != 1 {
		t.Errorf("got %+v with %d keys", base.ObjectMeta, len(base.Data))
	}
	if same := read("1", "[ldap]\npassword = a b$$c\nuser = cn=harbour\n"); same.Name != base.Name {
		t.Error("the same options under another name roll the pods")
	}
	if other := read("1", "[ldap]\npassword = a b$$d\nuser = cn=harbour\n"); other.Name == base.Name {
		t.Error("other options have the same name, so that the pods keep the old ones")
	}
	if foreign := read("2", "[ldap]\npassword = a b$$c\nuser = cn=harbour\n"); foreign.Name == base.Name {
		t.Error("the name tells that two Secrets have the same options")
	}
	if empty := read("1", "# nothing yet\n"); len(empty.Data["secret.conf"]) > 0 || empty.Name == base.Name {
		t.Errorf("of a Secret without an option the pods read %q in %s", empty.Data["secret.conf"], empty.Name)
	}
}

func TestARepeatedSecretOptionKeepsAllItsValues(t *testing.T) {
	p := withSecret(t, "1", settings.File, "[Federation]\ntrusted_dashboard = https://b.example.com\n"+
		"trusted_dashboard = https://a.example.com\nissuer = x\n")
	want := "[federation]\nissuer = x\ntrusted_dashboard = https://b.example.com\ntrusted_dashboard = https://a.example.com\n"
	if diff := cmp.Diff(want, string(copyOf(t, p).Data[secretFile])); diff != "" {
		t.Errorf("what the pods read (-want +got):\n%s", diff)
	}
	for _, hidden := range []string{"https://a.example.com", "https://b.example.com"} {
		if !slices.Contains(p.Hidden(), hidden) {
			t.Errorf("%q may be shown", hidden)
		}
	}
}

func TestOptionsOfASecretAreReadUnderItsKey(t *testing.T) {
	for _, key := range []string{"harbour.conf", "ldap.conf"} {
		p := withSecret(t, "1", key, "[a]\nb = c\n")
		copyOf(t, p)
		if got := service.Config.Value(p.Slots).Options; got["a"]["b"] != "c" {
			t.Errorf("key %q: got %v", key, got)
		}
	}
}

func TestAmbiguousSecretOptionsAreRefusedWithoutQuotingThem(t *testing.T) {
	for name, content := range map[string]string{
		"a continued value":            "[a]\nb = c\n  hunter2\n",
		"no section":                   "b = hunter2\n",
		"no option":                    "[a]\nhunter2\n",
		"a header without an end":      "[hunter2\n",
		"a line break of Python's":     "[a]\nb = c\u2028hunter2 = d\n",
		"a section in two spellings":   "[hunter2]\na = b\n[Hunter2]\nc = hunter2\n",
		"the operator's option":        "[OPERATORS]\nown = hunter2\n",
		"a carriage return in a value": "[a]\nb = c\rhunter2 = d\n",
	} {
		outcome := settings.Reconcile(t.Context(), withSecret(t, "1", "harbour.conf", content))
		switch {
		case outcome.IsDone() || outcome.Reason() != vocabulary.ReasonConfigError:
			t.Errorf("%s is accepted, or refused for another reason: %s", name, outcome.Message())
		case strings.Contains(strings.ToLower(fmt.Sprint(outcome.Message(), outcome.Err())), "hunter2"):
			t.Errorf("%s: %q shows it", name, outcome.Message())
		}
	}
}

func TestReservedOptionsCannotBeHiddenByCarriageReturns(t *testing.T) {
	// The operator's parser sees a comment, Python sees three lines.
	p := withSecret(t, "1", "harbour.conf", "[a]\nb = c\n# \r[operators]\rown = jws\n\u00a0[d=e]\n")
	if !settings.Reconcile(t.Context(), p).IsDone() {
		return
	}
	if got := string(copyOf(t, p).Data["secret.conf"]); strings.Contains(got, "own") {
		t.Errorf("the pods read %q", got)
	}
}

func TestTheJSONLogHandlerIsRenderedOnlyForJSONLogs(t *testing.T) {
	for _, format := range []commonv1.LogFormat{commonv1.LogFormatText, commonv1.LogFormatJSON} {
		g := NewWithT(t)
		h := instance.Brownfield()
		h.Spec.Logging.Format = format
		_, files, err := settings.Render(passOf(t, h), nil)
		g.Expect(err).NotTo(HaveOccurred())
		_, there := files[logHandlerFile]
		g.Expect(there).To(Equal(format == commonv1.LogFormatJSON))
		g.Expect(strings.Contains(files[loggingFile], "class = forge_log.LineStreamHandler")).To(Equal(there))
	}
}

func TestOptionPrecedenceIsDefaultsThenPluginThenUser(t *testing.T) {
	h := instance.Brownfield()
	h.Spec.ExtraConfig = map[string]map[string]string{"plugin": {"speed": "fast"}}
	with := settings
	with.Plugins = plugins(ini.File{
		"DEFAULT": {"pier": "two", "use_json": "false"}, "plugin": {"speed": "slow", "size": "small"},
	})
	options, _, err := with.Render(passOf(t, h), nil)
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[[2]string]string{
		{"DEFAULT", "pier"}: "two", {"DEFAULT", "debug"}: "false", {"plugin", "speed"}: "fast", {"plugin", "size"}: "small",
	} {
		if got := options[option[0]][option[1]]; got != want {
			t.Errorf("[%s] %s is %q, want %q", option[0], option[1], got, want)
		}
	}
}

func TestGlobalOptionsAreOverriddenByTheServicesOwn(t *testing.T) {
	p := withSecret(t, "1", settings.File, "[Global]\nsecret = own\n")
	p.Options.ExtraConfig = map[string]map[string]string{"Global": {"extra": "own", "secret": "other"}}
	p.Options.GlobalExtraConfig = map[string]map[string]string{
		"global":  {"extra": "all", "plugin": "all", "secret": "all", "here": "all"},
		"DEFAULT": {"pier": "nine"}, "oslo_policy": {"policy_file": "mine"},
	}
	p.Options.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"a": "role:reader"}}
	with := settings
	with.Plugins = plugins(ini.File{"global": {"plugin": "own"}})
	if outcome := with.Reconcile(t.Context(), p); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	options := service.Config.Value(p.Slots).Options
	want := map[string]string{"extra": "own", "plugin": "own", "secret": "own", "here": "all"}
	if diff := cmp.Diff(want, options["global"]); diff != "" || options["DEFAULT"]["pier"] != "nine" {
		t.Errorf("the pods read %v (-want +got):\n%s", options, diff)
	}
	if diff := cmp.Diff([]commonv1.OverriddenOption{
		{Section: "global", Option: "extra", By: "spec.extraConfig"},
		{Section: "global", Option: "plugin", By: with.Plugins.Field},
		{Section: "global", Option: "secret", By: "spec.extraConfigSecretRef"},
		{Section: "oslo_policy", Option: "policy_file", By: "operator"},
	}, p.Status.OverriddenOptions); diff != "" {
		t.Errorf("overridden options (-want +got):\n%s", diff)
	}
}

func TestAFileThatCannotBeRenderedIsAConfigError(t *testing.T) {
	broken := settings
	broken.Files = func(*service.Pass) (map[string]string, error) { return nil, errors.New("no such filter") }
	outcome := broken.Reconcile(t.Context(), passOf(t, instance.Brownfield()))
	if outcome.Reason() != vocabulary.ReasonConfigError || !strings.Contains(outcome.Message(), "no such filter") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}
