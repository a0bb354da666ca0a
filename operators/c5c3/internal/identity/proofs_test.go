package identity

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func isRejected(p *Proofs, secret string) bool {
	p.Announce(fixture.ControlPlane, "id", secret)
	_, rejected := p.Rejected(fixture.ControlPlane, "id", secret)
	return rejected
}

func TestARejectionCountsFromItsFirstAnnouncement(t *testing.T) {
	now, tasks := fixture.Noon, &fixture.Later{}
	p := NewProofs(func(context.Context, string, string, string) (Verdict, error) { return Rejected, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for range 3 {
		_, _ = p.Verdict(fixture.ControlPlane, "url", "id", "secret")
		tasks.Work(t.Context())
		now = now.Add(time.Second)
	}
	if _, rejected := p.Rejected(fixture.ControlPlane, "id", "secret"); rejected {
		t.Error("it counts as rejected before it was announced")
	}
	for range 2 {
		p.Announce(fixture.ControlPlane, "id", "secret")
		now = now.Add(time.Second)
	}
	_, _ = p.Verdict(fixture.ControlPlane, "url", "id", "secret")
	tasks.Work(t.Context())
	if announced, rejected := p.Rejected(fixture.ControlPlane, "id", "secret"); !rejected || announced != 2*time.Second {
		t.Errorf("it is rejected (%t), announced %s ago", rejected, announced)
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

// errand is a task of which a test says how it ends.
type errand struct {
	proofs *Proofs
	now    time.Time
	tasks  *fixture.Later
	// verdict and err are how it ends, and tries how often it was tried.
	verdict Verdict
	err     error
	tries   int
}

func newErrand() *errand {
	e := &errand{now: fixture.Noon, tasks: &fixture.Later{}}
	e.proofs = NewProofs(nil, e.tasks, func(string) time.Time { return e.now }, ProofPeriod, LoginPeriod)
	return e
}

// pass asks for the errand with a password, has it done if it is due, and returns what
// the next pass finds.
func (e *errand) pass(t *testing.T, password string) (Verdict, error) {
	t.Helper()
	task := Task{Subject: "errand", Key: "an errand", Password: password, FirstWait: 30 * time.Second}
	task.Do = func(context.Context) (Verdict, error) { e.tries++; return e.verdict, e.err }
	_, _ = e.proofs.Settled(fixture.ControlPlane, task)
	e.tasks.Work(t.Context())
	return e.proofs.Settled(fixture.ControlPlane, task)
}

func TestATaskThatFailsIsTriedLessAndLessOften(t *testing.T) {
	for _, answer := range []error{errors.New("away"), ErrPassword, nil} {
		e, verdict := newErrand(), Unproven
		if answer == nil {
			verdict = Rejected
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

func TestATaskThatFailsIsTriedAtOnceWithAnotherPassword(t *testing.T) {
	e := newErrand()
	e.err = ErrPassword
	_, _ = e.pass(t, "wr0ng")
	_, _ = e.pass(t, "wr0ng")
	if e.tries != 1 {
		t.Errorf("it was tried %d times with the wrong password", e.tries)
	}
	e.verdict, e.err = Accepted, nil
	if verdict, err := e.pass(t, "adm1n"); verdict != Accepted || err != nil || e.tries != 2 {
		t.Errorf("got %v and %v after %d tries", verdict, err, e.tries)
	}
	if verdict, _ := e.pass(t, "another"); verdict != Accepted || e.tries != 2 {
		t.Errorf("with another password what is done is %v after %d tries", verdict, e.tries)
	}
}

func TestARefusedPasswordIsSaidThoughTheTaskWasDoneBefore(t *testing.T) {
	for answer, want := range map[error]Verdict{ErrPassword: Unproven, errors.New("away"): Accepted} {
		e := newErrand()
		e.verdict = Accepted
		_, _ = e.pass(t, "adm1n")
		e.now, e.verdict, e.err = e.now.Add(ProofPeriod), Unproven, answer
		if got, err := e.pass(t, "adm1n"); got != want || (err == nil) != (want == Accepted) || e.tries != 2 {
			t.Errorf("%v: got %v and %v after %d tries", answer, got, err, e.tries)
		}
	}
}

func TestWhatKeystoneHasAnsweredIsRememberedBySubject(t *testing.T) {
	e := newErrand()
	if e.proofs.Remembers(fixture.ControlPlane, "errand") {
		t.Error("it is remembered before it was done")
	}
	_, _ = e.pass(t, "adm1n")
	if !e.proofs.Remembers(fixture.ControlPlane, "errand") || e.proofs.Remembers(fixture.ControlPlane, "another") {
		t.Error("another subject is remembered")
	}
	e.proofs.Forget(fixture.ControlPlane)
	if e.proofs.Remembers(fixture.ControlPlane, "errand") {
		t.Error("it is remembered though the control plane is gone")
	}
}
