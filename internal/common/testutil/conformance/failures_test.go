package conformance

import "testing"

func TestALostKeyWouldBeNoticedByTheCrashWalk(t *testing.T) {
	undisturbed := outcome{Irreplaceable: map[string]string{"fernet-keys/0": "a"}}
	failed := outcome{Irreplaceable: map[string]string{"fernet-keys/0": "b"}}
	final := outcome{Irreplaceable: map[string]string{"fernet-keys/0": "c"}}
	if compareOutcomes(undisturbed, failed, final) == "" {
		t.Error("a replaced key was not noticed")
	}
	if wrong := compareOutcomes(undisturbed, failed, failed); wrong != "" {
		t.Errorf("a kept key was reported: %s", wrong)
	}
}
