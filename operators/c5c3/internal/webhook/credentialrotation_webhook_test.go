package webhook

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestAScheduleWithoutEffectIsWarnedAbout(t *testing.T) {
	inMode := func(mode c5c3v1alpha1.RotationMode) client.Reader {
		cp := fixture.Minimal()
		cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode = mode
		return cluster(t, cp)
	}
	every30 := c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(30))}
	for name, c := range map[string]struct {
		reader client.Reader
		spec   c5c3v1alpha1.CredentialRotationSpec
		want   string
	}{
		"in a mode that is not set":    {inMode(""), every30, "a schedule has no effect in the mode PasswordDriven"},
		"in the manual mode":           {inMode(c5c3v1alpha1.RotationManual), every30, "rotation.mode of the ControlPlane to Scheduled"},
		"in its own mode":              {inMode(c5c3v1alpha1.RotationScheduled), every30, ""},
		"a request without a schedule": {inMode(c5c3v1alpha1.RotationManual), c5c3v1alpha1.CredentialRotationSpec{ReMint: true}, ""},
		"no ControlPlane":              {cluster(t), every30, ""},
		"the list fails":               {unreachable(t), every30, ""},
	} {
		t.Run(name, func(t *testing.T) {
			webhook := NewCredentialRotationWebhook()
			webhook.Reader = c.reader
			rotation := &c5c3v1alpha1.CredentialRotation{ObjectMeta: metav1.ObjectMeta{Name: "rotation", Namespace: "openstack"}, Spec: c.spec}
			created, err := webhook.ValidateCreate(t.Context(), rotation)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			updated, err := webhook.ValidateUpdate(t.Context(), &c5c3v1alpha1.CredentialRotation{}, rotation)
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			for _, warnings := range [][]string{created, updated} {
				if text := strings.Join(warnings, "\n"); (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
					t.Errorf("want %q, got %q", c.want, text)
				}
			}
		})
	}
}
