package v1alpha1_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	. "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/paste"
	"github.com/c5c3/forge/operators/keystone/internal/webhook"
)

// wantRenderable checks that what admission lets pass can be written into
// Keystone's configuration files.
func wantRenderable(t *testing.T, k *Keystone) {
	t.Helper()
	plugins := ini.File{}
	for _, plugin := range k.Spec.Plugins {
		plugins[plugin.ConfigSection] = plugin.Config
	}
	if _, err := plugins.Merge(ini.File(k.Spec.ExtraConfig)).Render(); err != nil {
		t.Errorf("accepted, but cannot be written to keystone.conf: %v", err)
	}
	filters := make([]paste.Filter, 0, len(k.Spec.Middleware))
	for _, m := range k.Spec.Middleware {
		filters = append(filters, paste.Filter{Name: m.Name, Factory: m.FilterFactory, Config: m.Config})
	}
	if _, err := paste.Render(filters); err != nil {
		t.Errorf("accepted, but cannot be written to api-paste.ini: %v", err)
	}
}

func FuzzAdmissionTakesAnyJSON(f *testing.F) {
	hook := webhook.NewKeystoneWebhook(cluster.Settings{})
	hook.Reader = fake.NewClientBuilder().WithScheme(apitest.Scheme(f, AddToScheme)).Build()
	Keystones().FuzzAdmission(f, hook, wantRenderable)
}
