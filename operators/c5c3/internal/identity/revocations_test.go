package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestARevocationThatFailsIsTriedLessAndLessOften(t *testing.T) {
	tasks := &fixture.Later{}
	r := NewRevocations(tasks)
	calls, answer := 0, errors.New("away")
	try := func(after time.Duration) error {
		now := func() time.Time { return fixture.Noon.Add(after) }
		_ = r.Revoke(fixture.ControlPlane, "id", now, 30*time.Second, func(context.Context) error { calls++; return answer })
		tasks.Work(t.Context())
		return r.Revoke(fixture.ControlPlane, "id", now, 30*time.Second, nil)
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
	if !r.Failed(fixture.ControlPlane, "id") || r.Failed(fixture.ControlPlane, "another") {
		t.Error("it is not remembered what failed")
	}
	answer = nil
	if err := try(2 * time.Hour); err != nil || r.Failed(fixture.ControlPlane, "id") {
		t.Errorf("it worked and yet: %v", err)
	}
	if err := try(2 * time.Hour); err != nil || calls != 7 {
		t.Errorf("it is remembered: %v after %d calls", err, calls)
	}
}

func TestAPassDoesNotWaitForARevocation(t *testing.T) {
	tasks := &fixture.Later{}
	r := NewRevocations(tasks)
	revoke := func() error {
		now := func() time.Time { return fixture.Noon }
		return r.Revoke(fixture.ControlPlane, "id", now, time.Second, func(context.Context) error { return nil })
	}
	if err := revoke(); !errors.Is(err, ErrAsking) || r.Failed(fixture.ControlPlane, "id") {
		t.Errorf("before Keystone has answered: %v", err)
	}
	tasks.Work(t.Context())
	if err := revoke(); err != nil {
		t.Errorf("after Keystone has answered: %v", err)
	}
}
