package webhook

import (
	"strings"
	"testing"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestAnIneffectiveOrSensitiveOptionInTheSpecIsWarnedAbout(t *testing.T) {
	const noEffect, readable = "has no effect", "anyone who may read this resource or ConfigMaps can read "
	for name, c := range map[string]struct {
		config map[string]map[string]string
		want   string
	}{
		"nothing":           {nil, ""},
		"harmless":          {map[string]map[string]string{"identity": {"password_hash_rounds": "12"}, "ldap": {"url": "ldap://x"}}, ""},
		"an empty password": {map[string]map[string]string{"ldap": {"password": ""}}, ""},
		"a connection": {
			map[string]map[string]string{"Database": {"connection": "mysql://u:hunter2@h/d"}}, "[Database][connection] " + noEffect,
		},
		"a connection of another": {map[string]map[string]string{"other": {"connection": "x"}}, ""},
		"the password of LDAP":    {map[string]map[string]string{"ldap": {"password": "hunter2"}}, readable + "[ldap][password];"},
		"more than one, in order": {
			map[string]map[string]string{"openid": {"client_secret": "hunter2"}, "DEFAULT": {"Transport_URL": "hunter2"}},
			readable + "[DEFAULT][Transport_URL], [openid][client_secret];",
		},
	} {
		k := &keystonev1alpha1.Keystone{}
		k.Spec.ExtraConfig = c.config
		text := connectionWarning(k) + strings.Join(secretsWarnings(k), "")
		if !strings.Contains(text, c.want) || (text == "") != (c.want == "") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}

func TestASecretInAPluginOrFilterConfigIsWarnedAbout(t *testing.T) {
	k := &keystonev1alpha1.Keystone{}
	k.Spec.Plugins = []keystonev1alpha1.PluginSpec{{
		Name: "keycloak", ConfigSection: "keycloak", Config: map[string]string{"client_secret": "hunter2"},
	}}
	k.Spec.Middleware = []keystonev1alpha1.MiddlewareSpec{{Name: "s3", Config: map[string]string{"admin_password": "hunter2", "url": "x"}}}
	text := strings.Join(secretsWarnings(k), "\n")
	for _, want := range []string{"spec.plugins: ", "[keycloak][client_secret];", "spec.middleware: ", "[s3][admin_password];"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	if strings.Contains(text, "hunter2") || strings.Contains(text, "[url]") {
		t.Errorf("got %q", text)
	}
}

func TestTheFernetWarningAdvisesAReasonableNumberOfKeys(t *testing.T) {
	for schedule, want := range map[string]string{"0 0 * * *": "set maxActiveKeys to at least 5", "* * * * *": "rotate less often"} {
		k := &keystonev1alpha1.Keystone{}
		k.Spec.Fernet.RotationSchedule, k.Spec.Fernet.MaxActiveKeys = schedule, 3
		got := fernetWarning(k)
		if !strings.Contains(got, want) || strings.Contains(got, "at least 2943") {
			t.Errorf("%s: got %q, want %q", schedule, got, want)
		}
	}
}
