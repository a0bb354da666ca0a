package webhook

import (
	"context"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

func TestAnIneffectiveOrSensitiveOptionInTheSpecIsWarnedAbout(t *testing.T) {
	const readable = "anyone who may read this resource or ConfigMaps can read "
	for name, c := range map[string]struct {
		config map[string]map[string]string
		want   string
	}{
		"nothing":  {nil, ""},
		"harmless": {map[string]map[string]string{"quotas": {"quota_secrets": "500"}}, ""},
		"a password": {
			map[string]map[string]string{"keystone_authtoken": {"password": "hunter2"}}, readable + "[keystone_authtoken][password];",
		},
		"a connection": {
			map[string]map[string]string{"database": {"connection": "mysql://u:hunter2@h/d"}},
			"[database][connection] has no effect",
		},
	} {
		b := &barbicanv1alpha1.Barbican{}
		b.Spec.ExtraConfig = c.config
		webhook := NewBarbicanWebhook(cluster.Settings{})
		if webhook.Warnings == nil {
			t.Fatal("a Barbican is admitted without any warning")
		}
		text := strings.Join(webhook.Warnings(context.Background(), nil, b), "")
		if !strings.Contains(text, c.want) || (text == "") != (c.want == "") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
