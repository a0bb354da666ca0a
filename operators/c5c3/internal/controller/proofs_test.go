package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// later is a background whose tasks wait until a test has them done.
type later struct{ tasks []func(context.Context) }

func (l *later) Do(_ types.NamespacedName, _ string, task func(context.Context)) {
	l.tasks = append(l.tasks, task)
}

func (l *later) work(ctx context.Context) {
	for _, task := range l.tasks {
		task(ctx)
	}
	l.tasks = nil
}

var proven = types.NamespacedName{Namespace: "openstack", Name: "controlplane"}

func isRejected(p *proofs, secret string) bool {
	_, rejected := p.rejected(proven, "id", secret)
	return rejected
}

func TestARefusalIsKnownSinceKeystoneHasSaidSoFirst(t *testing.T) {
	now, tasks := noon, &later{}
	p := newProofs(func(context.Context, string, string, string) (Verdict, error) { return Rejected, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for range 3 {
		_, _ = p.verdict(proven, "url", "id", "secret")
		tasks.work(t.Context())
		now = now.Add(time.Second)
	}
	if known, rejected := p.rejected(proven, "id", "secret"); !rejected || known != 3*time.Second {
		t.Errorf("it is rejected (%t) for %s", rejected, known)
	}
}

func TestAnAcceptedCredentialIsNotProvenAgainForAWhile(t *testing.T) {
	logins, verdict, now, tasks := 0, Unproven, time.Now(), &later{}
	p := newProofs(func(context.Context, string, string, string) (Verdict, error) {
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
		_, _ = p.verdict(proven, "url", "id", step.secret)
		tasks.work(t.Context())
		if got, _ := p.verdict(proven, "url", "id", step.secret); got != step.want || logins != step.logins {
			t.Errorf("step %d: %v after %d logins, want %v after %d", i, got, logins, step.want, step.logins)
		}
		if len(tasks.tasks) > 0 {
			t.Errorf("step %d: it is asked again at once", i)
		}
	}
	if !isRejected(p, "two") || isRejected(p, "one") {
		t.Error("another credential is known as rejected")
	}
	p.forget(proven)
	if isRejected(p, "two") {
		t.Error("it is remembered though the control plane is gone")
	}
}

func TestAPassDoesNotWaitForKeystonesAnswer(t *testing.T) {
	tasks := &later{}
	p := newProofs(func(context.Context, string, string, string) (Verdict, error) { return Accepted, nil },
		tasks, func(string) time.Time { return noon }, time.Minute, time.Second)
	if verdict, err := p.verdict(proven, "url", "id", "secret"); verdict != Unproven || !errors.Is(err, errAsking) {
		t.Errorf("before Keystone has answered the verdict is %v (%v)", verdict, err)
	}
	tasks.work(t.Context())
	if verdict, err := p.verdict(proven, "url", "id", "secret"); verdict != Accepted || err != nil {
		t.Errorf("after Keystone has answered the verdict is %v (%v)", verdict, err)
	}
}

func TestACredentialThatWasAcceptedNotLongAgoMayBeDead(t *testing.T) {
	verdict, now, tasks := Accepted, noon, &later{}
	p := newProofs(func(context.Context, string, string, string) (Verdict, error) { return verdict, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for _, want := range []bool{false, true} {
		_, _ = p.dead(proven, "url", "id", "secret")
		tasks.work(t.Context())
		if got, err := p.dead(proven, "url", "id", "secret"); got != want || err != nil {
			t.Errorf("dead: %t (%v), want %t", got, err, want)
		}
		verdict, now = Rejected, now.Add(time.Second)
	}
}

func TestCredentialsThatNobodyAsksAboutAreForgotten(t *testing.T) {
	now, tasks := noon, &later{}
	p := newProofs(func(context.Context, string, string, string) (Verdict, error) { return Rejected, nil },
		tasks, func(string) time.Time { return now }, time.Minute, time.Second)
	for _, secret := range []string{"one", "two", "three"} {
		_, _ = p.verdict(proven, "url", "id", secret)
		tasks.work(t.Context())
		now = now.Add(time.Minute)
	}
	if isRejected(p, "one") || !isRejected(p, "two") || !isRejected(p, "three") {
		t.Errorf("%d credentials are remembered, want the last two", len(p.verdicts[proven]))
	}
}

func TestATaskThatFailsIsTriedLessAndLessOften(t *testing.T) {
	now, tasks, tries := noon, &later{}, 0
	p := newProofs(nil, tasks, func(string) time.Time { return now }, proofPeriod, loginPeriod)
	var waits []time.Duration
	last := now
	for range 1000 {
		_, err := p.settled(proven, "a task", func(context.Context) (Verdict, error) {
			tries++
			waits, last = append(waits, now.Sub(last)), now
			return Unproven, errors.New("the administrator's password is wrong")
		})
		if err == nil {
			t.Fatal("it counts for done")
		}
		tasks.work(t.Context())
		now = now.Add(loginPeriod)
	}
	if tries > 40 || waits[1] != loginPeriod || waits[len(waits)-1] != maxRetryPeriod {
		t.Errorf("it was tried %d times, after %v", tries, waits)
	}
}
