package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func isRejected(p *Proofs, secret string) bool {
	_, rejected := p.Rejected(fixture.ControlPlane, "id", secret)
	return rejected
}

func TestARefusalIsKnownSinceKeystoneHasSaidSoFirst(t *testing.T) {
	now, tasks := fixture.Noon, &fixture.Later{}
	p := NewProofs(func(context.Context, string, string, string) (Verdict, error) { return Rejected, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for range 3 {
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", "secret")
		tasks.Work(t.Context())
		now = now.Add(time.Second)
	}
	if known, rejected := p.Rejected(fixture.ControlPlane, "id", "secret"); !rejected || known != 3*time.Second {
		t.Errorf("it is rejected (%t) for %s", rejected, known)
	}
}

func TestAnAcceptedCredentialIsNotProvenAgainForAWhile(t *testing.T) {
	logins, verdict, now, tasks := 0, Unproven, time.Now(), &fixture.Later{}
	p := NewProofs(func(context.Context, string, string, string) (Verdict, error) {
		logins++
		if verdict == Unproven {
			return verdict, errors.New("away")
		}
		return verdict, nil
	}, tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for i, step := range []struct {
		answer, want Verdict
		secret       string
		after        time.Duration
		logins       int
	}{
		{Unproven, Unproven, "one", 0, 1},
		{Rejected, Unproven, "one", 999 * time.Millisecond, 1},
		{Rejected, Rejected, "one", time.Millisecond, 2},
		{Accepted, Accepted, "one", time.Second, 3},
		{Rejected, Accepted, "one", 59 * time.Second, 3},
		{Unproven, Accepted, "one", time.Second, 4},
		{Rejected, Accepted, "one", 59 * time.Second, 4},
		{Accepted, Accepted, "one", time.Second, 5},
		{Rejected, Rejected, "one", time.Minute, 6},
		{Accepted, Accepted, "one", time.Second, 7},
		{Rejected, Rejected, "two", 0, 8},
	} {
		verdict, now = step.answer, now.Add(step.after)
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", step.secret)
		tasks.Work(t.Context())
		if got, _ := p.Verdict(fixture.ControlPlane, "url", "id", step.secret); got != step.want || logins != step.logins {
			t.Errorf("step %d: %v after %d logins, want %v after %d", i, got, logins, step.want, step.logins)
		}
		if len(tasks.Tasks) > 0 {
			t.Errorf("step %d: it is asked again at once", i)
		}
	}
	if !isRejected(p, "two") || isRejected(p, "one") {
		t.Error("another credential is known as rejected")
	}
	p.Forget(fixture.ControlPlane)
	if isRejected(p, "two") {
		t.Error("it is remembered though the control plane is gone")
	}
}

func TestAPassDoesNotWaitForKeystonesAnswer(t *testing.T) {
	tasks := &fixture.Later{}
	p := NewProofs(func(context.Context, string, string, string) (Verdict, error) { return Accepted, nil },
		tasks, func(string) time.Time { return fixture.Noon }, time.Minute, time.Second)
	if verdict, err := p.Verdict(fixture.ControlPlane, "url", "id", "secret"); verdict != Unproven || !errors.Is(err, ErrAsking) {
		t.Errorf("before Keystone has answered the verdict is %v (%v)", verdict, err)
	}
	tasks.Work(t.Context())
	if verdict, err := p.Verdict(fixture.ControlPlane, "url", "id", "secret"); verdict != Accepted || err != nil {
		t.Errorf("after Keystone has answered the verdict is %v (%v)", verdict, err)
	}
}

func TestACredentialThatWasAcceptedNotLongAgoMayBeDead(t *testing.T) {
	verdict, now, tasks := Accepted, fixture.Noon, &fixture.Later{}
	p := NewProofs(func(context.Context, string, string, string) (Verdict, error) { return verdict, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for _, want := range []bool{false, true} {
		_, _ = p.Dead(fixture.ControlPlane, "url", "id", "secret")
		tasks.Work(t.Context())
		if got, err := p.Dead(fixture.ControlPlane, "url", "id", "secret"); got != want || err != nil {
			t.Errorf("dead: %t (%v), want %t", got, err, want)
		}
		verdict, now = Rejected, now.Add(time.Second)
	}
}

func TestCredentialsThatNobodyAsksAboutAreForgotten(t *testing.T) {
	now, tasks := fixture.Noon, &fixture.Later{}
	p := NewProofs(func(context.Context, string, string, string) (Verdict, error) { return Rejected, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for _, secret := range []string{"one", "two", "three"} {
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", secret)
		tasks.Work(t.Context())
		now = now.Add(time.Minute)
	}
	if isRejected(p, "one") || !isRejected(p, "two") || !isRejected(p, "three") {
		t.Errorf("%d credentials are remembered, want the last two", len(p.verdicts[fixture.ControlPlane]))
	}
}

func TestATaskThatFailsIsTriedLessAndLessOften(t *testing.T) {
	now, tasks, tries := fixture.Noon, &fixture.Later{}, 0
	p := NewProofs(nil, tasks, func(string) time.Time { return now }, ProofPeriod, LoginPeriod)
	var waits []time.Duration
	last := now
	for range 1000 {
		_, err := p.Settled(fixture.ControlPlane, "a task", func(context.Context) (Verdict, error) {
			tries++
			waits, last = append(waits, now.Sub(last)), now
			return Unproven, errors.New("the administrator's password is wrong")
		})
		if err == nil {
			t.Fatal("it counts for done")
		}
		tasks.Work(t.Context())
		now = now.Add(LoginPeriod)
	}
	if tries > 40 || waits[1] != LoginPeriod || waits[len(waits)-1] != MaxRetryPeriod {
		t.Errorf("it was tried %d times, after %v", tries, waits)
	}
}
