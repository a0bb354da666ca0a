package deployment

import (
	"testing"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestTaskPodsOptOutOfServiceMeshInjection(t *testing.T) {
	meta := Pods{}.TaskMeta(&instance.Definition, "harbour", "db-sync", "registry/harbour:2025.2", map[string]string{"hash": "1"})
	for key, want := range map[string]string{
		"sidecar.istio.io/inject": "false", "kuma.io/sidecar-injection": "disabled", "linkerd.io/inject": "disabled",
		"consul.hashicorp.com/connect-inject": "false", "hash": "1", apply.RequestedImage: "registry/harbour:2025.2",
	} {
		if got := meta.Annotations[key]; got != want {
			t.Errorf("annotation %s is %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string]string{"sidecar.istio.io/inject": "false", "kuma.io/sidecar-injection": "disabled"} {
		if got := meta.Labels[key]; got != want {
			t.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
	for key, want := range instance.Definition.TaskLabels("harbour", "db-sync") {
		if meta.Labels[key] != want {
			t.Errorf("label %s is %q, want %q", key, meta.Labels[key], want)
		}
	}
}
