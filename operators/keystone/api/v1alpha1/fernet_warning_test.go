package v1alpha1

import (
	"strings"
	"testing"
)

func TestTheWarningNeverAsksForMoreKeysThanAreAdvisable(t *testing.T) {
	for schedule, want := range map[string]string{"0 0 * * *": "set maxActiveKeys to at least 5", "* * * * *": "rotate less often"} {
		k := &Keystone{}
		k.Spec.Fernet.RotationSchedule, k.Spec.Fernet.MaxActiveKeys = schedule, 3
		got := fernetWarning(k)
		if !strings.Contains(got, want) || strings.Contains(got, "at least 2943") {
			t.Errorf("%s: got %q, want %q", schedule, got, want)
		}
	}
}
