package identity

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func isRejected(p *Proofs, secret string) bool {
	p.Announce(fixture.ControlPlane, "id", secret)
	_, rejected := p.Rejected(fixture.ControlPlane, "id", secret)
	return rejected
}

func TestARejectionCountsFromItsFirstReport(t *testing.T) {
	now := fixture.Noon
	p := NewProofs(func(context.Context, string, string, string) (ask.Verdict, error) { return ask.Rejected, nil },
		func(string) time.Time { return now }, time.Minute, time.Second)
	for range 3 {
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", "secret", false)
		fixture.Answer(t.Context(), p.Ledger)
		now = now.Add(time.Second)
	}
	if _, rejected := p.Rejected(fixture.ControlPlane, "id", "secret"); rejected {
		t.Error("it counts as rejected before it was announced")
	}
	for range 2 {
		p.Announce(fixture.ControlPlane, "id", "secret")
		now = now.Add(time.Second)
	}
	_, _ = p.Verdict(fixture.ControlPlane, "url", "id", "secret", false)
	fixture.Answer(t.Context(), p.Ledger)
	if announced, rejected := p.Rejected(fixture.ControlPlane, "id", "secret"); !rejected || announced != 2*time.Second {
		t.Errorf("it is rejected (%t), announced %s ago", rejected, announced)
	}
}

func TestAnAcceptedCredentialIsVerifiedAgainOnlyAfterAPeriod(t *testing.T) {
	logins, verdict, now := 0, ask.Unproven, time.Now()
	p := NewProofs(func(context.Context, string, string, string) (ask.Verdict, error) {
		logins++
		if verdict == ask.Unproven {
			return verdict, errors.New("away")
		}
		return verdict, nil
	}, func(string) time.Time { return now }, time.Minute, time.Second)
	for i, step := range []struct {
		answer, want ask.Verdict
		secret       string
		after        time.Duration
		logins       int
	}{
		{ask.Unproven, ask.Unproven, "one", 0, 1},
		{ask.Rejected, ask.Unproven, "one", 999 * time.Millisecond, 1},
		{ask.Rejected, ask.Rejected, "one", time.Millisecond, 2},
		{ask.Accepted, ask.Accepted, "one", time.Second, 3},
		{ask.Rejected, ask.Accepted, "one", 59 * time.Second, 3},
		{ask.Unproven, ask.Accepted, "one", time.Second, 4},
		{ask.Rejected, ask.Accepted, "one", 59 * time.Second, 4},
		{ask.Accepted, ask.Accepted, "one", time.Second, 5},
		{ask.Rejected, ask.Rejected, "one", time.Minute, 6},
		{ask.Accepted, ask.Accepted, "one", time.Second, 7},
		{ask.Rejected, ask.Rejected, "two", 0, 8},
	} {
		verdict, now = step.answer, now.Add(step.after)
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", step.secret, false)
		fixture.Answer(t.Context(), p.Ledger)
		if got, _ := p.Verdict(fixture.ControlPlane, "url", "id", step.secret, false); got != step.want || logins != step.logins {
			t.Errorf("step %d: %v after %d logins, want %v after %d", i, got, logins, step.want, step.logins)
		}
		if fixture.Answer(t.Context(), p.Ledger) > 0 {
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

func TestAReconcileDoesNotBlockOnKeystone(t *testing.T) {
	p := NewProofs(func(context.Context, string, string, string) (ask.Verdict, error) { return ask.Accepted, nil },
		func(string) time.Time { return fixture.Noon }, time.Minute, time.Second)
	if verdict, err := p.Verdict(fixture.ControlPlane, "url", "id", "secret", false); verdict != ask.Unproven || !errors.Is(err, ErrAsking) {
		t.Errorf("before Keystone has answered the verdict is %v (%v)", verdict, err)
	}
	fixture.Answer(t.Context(), p.Ledger)
	if verdict, err := p.Verdict(fixture.ControlPlane, "url", "id", "secret", false); verdict != ask.Accepted || err != nil {
		t.Errorf("after Keystone has answered the verdict is %v (%v)", verdict, err)
	}
}

func TestARecentlyAcceptedCredentialCanBeDead(t *testing.T) {
	verdict, now := ask.Accepted, fixture.Noon
	p := NewProofs(func(context.Context, string, string, string) (ask.Verdict, error) { return verdict, nil },
		func(string) time.Time { return now }, time.Minute, time.Second)
	for _, want := range []bool{false, true} {
		_, _ = p.Dead(fixture.ControlPlane, "url", "id", "secret")
		fixture.Answer(t.Context(), p.Ledger)
		if got, err := p.Dead(fixture.ControlPlane, "url", "id", "secret"); got != want || err != nil {
			t.Errorf("dead: %t (%v), want %t", got, err, want)
		}
		verdict, now = ask.Rejected, now.Add(time.Second)
	}
}

func TestUnusedCredentialVerdictsAreEvicted(t *testing.T) {
	now := fixture.Noon
	p := NewProofs(func(context.Context, string, string, string) (ask.Verdict, error) { return ask.Rejected, nil },
		func(string) time.Time { return now }, time.Minute, time.Second)
	for _, secret := range []string{"one", "two", "three"} {
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", secret, false)
		fixture.Answer(t.Context(), p.Ledger)
		now = now.Add(time.Minute)
	}
	if isRejected(p, "one") || !isRejected(p, "two") || !isRejected(p, "three") {
		t.Error("want the last two remembered")
	}
}

// errand is a task of which a test says how it ends.
type errand struct {
	proofs *Proofs
	now    time.Time
	// verdict and err are how it ends, and tries how often it was tried.
	verdict ask.Verdict
	err     error
	tries   int
}

func newErrand() *errand {
	e := &errand{now: fixture.Noon}
	e.proofs = NewProofs(nil, func(string) time.Time { return e.now }, ProofPeriod, LoginPeriod)
	return e
}

// pass asks for the errand with a password, has it done if it is due, and returns what
// the next pass finds.
func (e *errand) pass(t *testing.T, password string) (ask.Verdict, error) {
	t.Helper()
	task := Task{Subject: "errand", Key: "an errand", Password: password, FirstWait: 30 * time.Second}
	task.Do = func(context.Context) (ask.Verdict, error) { e.tries++; return e.verdict, e.err }
	_, _ = e.proofs.Settled(fixture.ControlPlane, task)
	fixture.Answer(t.Context(), e.proofs.Ledger)
	return e.proofs.Settled(fixture.ControlPlane, task)
}

func TestAFailedTaskIsRetriedWithBackoff(t *testing.T) {
	for _, answer := range []error{errors.New("away"), ErrPassword, nil} {
		e, verdict := newErrand(), ask.Unproven
		if answer == nil {
			verdict = ask.Rejected
		}
		e.verdict, e.err = verdict, answer
		var waits []time.Duration
		for last := e.now; e.now.Before(fixture.Noon.Add(time.Hour)); e.now = e.now.Add(LoginPeriod) {
			before := e.tries
			if got, err := e.pass(t, "adm1n"); got != verdict || !errors.Is(err, answer) {
				t.Fatalf("got %v and %v", got, err)
			}
			if e.tries > before {
				waits, last = append(waits, e.now.Sub(last)), e.now
			}
		}
		want := []time.Duration{
			0, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute,
			MaxRetryPeriod, MaxRetryPeriod, MaxRetryPeriod, MaxRetryPeriod,
		}
		if !slices.Equal(waits, want) {
			t.Errorf("%v: it was tried after %v", answer, waits)
		}
	}
}

func TestAFailedTaskIsRetriedImmediatelyWithAnotherPassword(t *testing.T) {
	e := newErrand()
	e.err = ErrPassword
	_, _ = e.pass(t, "wr0ng")
	_, _ = e.pass(t, "wr0ng")
	if e.tries != 1 {
		t.Errorf("it was tried %d times with the wrong password", e.tries)
	}
	e.verdict, e.err = ask.Accepted, nil
	if verdict, err := e.pass(t, "adm1n"); verdict != ask.Accepted || err != nil || e.tries != 2 {
		t.Errorf("got %v and %v after %d tries", verdict, err, e.tries)
	}
	if verdict, _ := e.pass(t, "another"); verdict != ask.Accepted || e.tries != 2 {
		t.Errorf("with another password what is done is %v after %d tries", verdict, e.tries)
	}
}

func TestARefusedPasswordIsReportedEvenAfterAnEarlierSuccess(t *testing.T) {
	for answer, want := range map[error]ask.Verdict{ErrPassword: ask.Unproven, errors.New("away"): ask.Accepted} {
		e := newErrand()
		e.verdict = ask.Accepted
		_, _ = e.pass(t, "adm1n")
		e.now, e.verdict, e.err = e.now.Add(ProofPeriod), ask.Unproven, answer
		if got, err := e.pass(t, "adm1n"); got != want || (err == nil) != (want == ask.Accepted) || e.tries != 2 {
			t.Errorf("%v: got %v and %v after %d tries", answer, got, err, e.tries)
		}
	}
}

func TestARestartIsNoNewsUntilKeystoneHasAnsweredAboutTheSubject(t *testing.T) {
	e := newErrand()
	settled := func(key string) (ask.Verdict, error) {
		return e.proofs.Settled(fixture.ControlPlane, Task{
			Subject: "errand", Key: key, WasDone: true, FirstWait: time.Second,
			Do: func(context.Context) (ask.Verdict, error) { return e.verdict, e.err },
		})
	}
	for range 2 {
		e.verdict = ask.Accepted
		for _, key := range []string{"an errand", "another", "an errand"} {
			if verdict, err := settled(key); verdict != ask.Accepted || err != nil {
				t.Errorf("%s: got %v and %v although it was done before the restart", key, verdict, err)
			}
		}
		fixture.Answer(t.Context(), e.proofs.Ledger)
		if verdict, err := settled("another"); verdict != ask.Unproven || !errors.Is(err, ErrAsking) {
			t.Errorf("got %v and %v about another errand, which Keystone was not asked about", verdict, err)
		}
		e.verdict, e.err = ask.Unproven, errors.New("away")
		fixture.Answer(t.Context(), e.proofs.Ledger)
		if verdict, err := settled("another"); verdict != ask.Unproven || !errors.Is(err, e.err) {
			t.Errorf("got %v and %v, want what Keystone has answered", verdict, err)
		}
		e.proofs.Forget(fixture.ControlPlane)
		e.err = nil
	}
}
