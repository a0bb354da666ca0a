package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestAFailedRevocationIsRetriedWithBackoff(t *testing.T) {
	var now time.Time
	p := NewProofs(nil, func(string) time.Time { return now }, ProofPeriod, LoginPeriod)
	calls, answer := 0, errors.New("away")
	try := func(after time.Duration) error {
		now = fixture.Noon.Add(after)
		_ = p.Revoke(fixture.ControlPlane, "id", 30*time.Second, func(context.Context) error { calls++; return answer })
		fixture.Answer(t.Context(), p.Ledger)
		return p.Revoke(fixture.ControlPlane, "id", 30*time.Second, nil)
	}
	for i, step := range []struct {
		after time.Duration
		calls int
	}{
		{0, 1},
		{29 * time.Second, 1},
		{30 * time.Second, 2},
		{89 * time.Second, 2},
		{90 * time.Second, 3},
		{time.Hour, 4},
		{time.Hour + 239*time.Second, 4},
		{time.Hour + 240*time.Second, 5},
	} {
		if err := try(step.after); calls != step.calls || !errors.Is(err, answer) {
			t.Errorf("step %d: %d calls and %v", i, calls, err)
		}
	}
	if !p.RevocationFailed(fixture.ControlPlane, "id") || p.RevocationFailed(fixture.ControlPlane, "another") {
		t.Error("it is not remembered what failed")
	}
	answer = nil
	if err := try(2 * time.Hour); err != nil || p.RevocationFailed(fixture.ControlPlane, "id") {
		t.Errorf("it worked and yet: %v", err)
	}
	if err := try(2 * time.Hour); err != nil || calls != 7 {
		t.Errorf("it is remembered: %v after %d calls", err, calls)
	}
}

func TestAReconcileDoesNotBlockOnARevocation(t *testing.T) {
	p := NewProofs(nil, func(string) time.Time { return fixture.Noon }, ProofPeriod, LoginPeriod)
	revoke := func() error {
		return p.Revoke(fixture.ControlPlane, "id", time.Second, func(context.Context) error { return nil })
	}
	if err := revoke(); !errors.Is(err, ErrAsking) || p.RevocationFailed(fixture.ControlPlane, "id") {
		t.Errorf("before Keystone has answered: %v", err)
	}
	fixture.Answer(t.Context(), p.Ledger)
	if err := revoke(); err != nil {
		t.Errorf("after Keystone has answered: %v", err)
	}
}
