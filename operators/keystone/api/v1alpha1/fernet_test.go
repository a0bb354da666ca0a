package v1alpha1

import (
	"errors"
	"testing"
	"time"

	"github.com/c5c3/forge/internal/common/schedule"
)

func TestAScheduleThatNeverActivatesIsAnError(t *testing.T) {
	if _, err := RequiredFernetKeys("0 0 30 2 *", time.Hour); !errors.Is(err, schedule.ErrNeverActivates) {
		t.Errorf("want ErrNeverActivates, got %v", err)
	}
}

func TestTheTokenLifetimeIsReadFromACaseInsensitiveSection(t *testing.T) {
	for _, section := range []string{"token", "Token", "TOKEN"} {
		var spec KeystoneSpec
		spec.ExtraConfig = map[string]map[string]string{section: {"expiration": "7200", "allow_expired_window": "0"}}
		if got, ok := spec.TokenLifetime(); !ok || got != 2*time.Hour {
			t.Errorf("[%s]: got %s, %t, want 2h", section, got, ok)
		}
	}
}

func TestTheTokenLifetimeOfAKeystoneOverridesThatOfItsControlPlane(t *testing.T) {
	var spec KeystoneSpec
	spec.GlobalExtraConfig = map[string]map[string]string{"token": {"expiration": "7200", "allow_expired_window": "0"}}
	spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": "3600"}}
	if got, ok := spec.TokenLifetime(); !ok || got != time.Hour {
		t.Errorf("got %s, %t, want 1h", got, ok)
	}
}
