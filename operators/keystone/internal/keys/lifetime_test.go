package keys

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/rotation"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestARotationWithAnUnknownTokenLifetimeIsReported(t *testing.T) {
	unreadable := map[string]map[string]string{"token": {"expiration": "$hour"}}
	for name, c := range map[string]struct {
		options  map[string]map[string]string
		finished bool
		stuck    bool
	}{
		"finished":                {unreadable, true, true},
		"not finished":            {unreadable, false, false},
		"without a configuration": {nil, true, false},
	} {
		s := fixture.Scope(fixture.Minimal())
		service.Config.Put(s.Slots, service.Rendered{ConfigMap: "keystone-config-01234567", Options: c.options})
		current := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Resource.Namespace, Name: pass.FernetKeysName(s.Resource)}}
		staging := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Resource.Namespace, Name: stagingName(current.Name), Labels: pass.Definition.Labels(s.Resource.Name),
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(s.Resource, keystonev1alpha1.GroupVersion.WithKind("Keystone")),
			},
		}}
		if c.finished {
			staging.Annotations = map[string]string{rotation.CompletedAtAnnotation: "2026-06-01T12:00:00Z"}
		}
		reader := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(staging).Build()
		s.Client, s.Owned = reader, secrets.Owned{Client: reader, APIReader: reader, Scheme: fixture.Scheme()}
		found, err := Fernet.promote(t.Context(), s, current)
		if err != nil || (found.stuck != "") != c.stuck {
			t.Errorf("%s: got %+v, %v", name, found, err)
		}
		outcome := Fernet.report(s, found)
		if c.stuck && (outcome.IsDone() || outcome.Reason() != keystonev1alpha1.ReasonRotationFailed ||
			!strings.Contains(outcome.Message(), "[token] expiration")) {
			t.Errorf("%s: the condition says %s: %s", name, outcome.Reason(), outcome.Message())
		}
	}
}
