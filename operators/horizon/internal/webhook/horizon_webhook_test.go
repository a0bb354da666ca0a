package webhook

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

func TestASettingThatLooksSecretIsWarnedAbout(t *testing.T) {
	for name, want := range map[string]bool{"SESSION_TIMEOUT": false, "EMAIL_HOST_PASSWORD": true, "EMAIL_SECRET": true} {
		h := &horizonv1alpha1.Horizon{}
		h.Spec.Settings = map[string]apiextensionsv1.JSON{name: {Raw: []byte(`"hunter2"`)}}
		text := strings.Join(NewHorizonWebhook(cluster.Settings{}).Warnings(t.Context(), nil, h), "")
		if strings.Contains(text, "spec.settings["+name+"]") != want || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
