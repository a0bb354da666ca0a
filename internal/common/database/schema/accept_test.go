package schema

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestALostInstalledReleaseIsRecoveredFromTheDeployment(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for name, c := range map[string]struct{ recorded, requested, image, want string }{
		"requested":                 {"", "registry/harbour:2025.1", "mirror/harbour@sha256:" + digest, "2025.1"},
		"requested as wanted":       {"", "registry/harbour:2025.2", "mirror/harbour@sha256:" + digest, ""},
		"recorded as a digest":      {digest, "registry/harbour:2025.1", "mirror/harbour@sha256:" + digest, "2025.1"},
		"of an earlier operator":    {"", "", "registry/harbour:2025.1", "2025.1"},
		"with a tag and a digest":   {"", "", "registry/harbour:2025.1@sha256:" + digest, "2025.1"},
		"of which nothing is known": {digest, "", "mirror/harbour@sha256:" + digest, ""},
	} {
		h := instance.Brownfield()
		h.Status.InstalledRelease = c.recorded
		deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: h.Namespace, Name: h.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)},
		}}
		deploy.Spec.Template.Spec.Containers = []corev1.Container{{Name: instance.Definition.CodeName, Image: c.image}}
		if c.requested != "" {
			deploy.Spec.Template.Annotations = map[string]string{apply.RequestedImage: c.requested}
		}
		err := Schema{}.work(instance.Pass(t, h, interceptor.Funcs{}, deploy)).recoverInstalledRelease(t.Context())
		if err != nil || h.Status.InstalledRelease != c.want {
			t.Errorf("%s: got %q and %v, want %q", name, h.Status.InstalledRelease, err, c.want)
		}
	}
}
