package webhook

import (
	"context"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

func TestAnIneffectiveOrSensitiveOptionInTheSpecIsWarnedAbout(t *testing.T) {
	const readable = "anyone who may read this resource or ConfigMaps can read "
	for name, c := range map[string]struct {
		config map[string]map[string]string
		want   string
	}{
		"nothing":  {nil, ""},
		"harmless": {map[string]map[string]string{"DEFAULT": {"image_size_cap": "12"}}, ""},
		"a password": {
			map[string]map[string]string{"keystone_authtoken": {"password": "hunter2"}}, readable + "[keystone_authtoken][password];",
		},
		"a connection": {
			map[string]map[string]string{"database": {"connection": "mysql://u:hunter2@h/d"}},
			"[database][connection] has no effect",
		},
	} {
		p := &glancev1alpha1.Glance{}
		p.Spec.ExtraConfig = c.config
		webhook := NewGlanceWebhook(cluster.Settings{})
		if webhook.Warnings == nil {
			t.Fatal("a Glance is admitted without any warning")
		}
		text := strings.Join(webhook.Warnings(context.Background(), nil, p), "")
		if !strings.Contains(text, c.want) || (text == "") != (c.want == "") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}
