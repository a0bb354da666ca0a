package proof

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ask"
)

var name = types.NamespacedName{Namespace: "openstack", Name: "keystone"}

// keystone answers all logins alike and records their times.
type keystone struct {
	answer answer
	// takes is the duration of a login.
	takes time.Duration

	mu            sync.Mutex
	at            []time.Time
	running, most int
}

func (k *keystone) Do(request *http.Request) (*http.Response, error) {
	k.mu.Lock()
	k.at = append(k.at, time.Now())
	k.running++
	k.most = max(k.most, k.running)
	answer := k.answer
	k.mu.Unlock()
	<-time.After(k.takes)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running--
	return answer.Do(request)
}

func (k *keystone) set(answer answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = answer
}

func (k *keystone) logins() []time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]time.Time(nil), k.at...)
}

var (
	accepted = answer{code: http.StatusCreated, header: header(tokenHeader, "t")}
	refused  = answer{code: http.StatusUnauthorized}
)

// inBubble runs a prover in a synctest bubble, where time passes only while everything
// waits. It counts the passes that the prover triggers.
func inBubble(t *testing.T, k *keystone, test func(p *Prover, passes func() int)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := NewProver(k)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		var mu sync.Mutex
		asked := 0
		go func() { ended <- p.Start(ctx) }()
		go func() {
			for {
				select {
				case <-p.News():
					mu.Lock()
					asked++
					mu.Unlock()
				case <-ctx.Done():
					return
				}
			}
		}()
		test(p, func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return asked
		})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAnAcceptedLoginIsVerifiedOncePerPeriod(t *testing.T) {
	k := &keystone{answer: accepted}
	inBubble(t, k, func(p *Prover, passes func() int) {
		if got := p.Check(name, wanted); got.Verdict != ask.Unproven {
			t.Errorf("a finding before the first login: %+v", got)
		}
		synctest.Wait()
		for range 10 {
			if got := p.Check(name, wanted); got.Verdict != ask.Accepted {
				t.Errorf("got %+v, want it accepted", got)
			}
		}
		<-time.After(period - time.Second)
		if got := len(k.logins()); got != 1 {
			t.Errorf("%d logins within %s, want one", got, period)
		}
		<-time.After(period / 2)
		if got := len(k.logins()); got != 2 {
			t.Errorf("%d logins within %s, want two", got, period*3/2)
		}
		if got := passes(); got != 1 {
			t.Errorf("%d passes asked for by two logins that found the same, want one", got)
		}
	})
}

func TestARefusedPasswordIsNotRetriedUntilItChanges(t *testing.T) {
	k := &keystone{answer: refused}
	inBubble(t, k, func(p *Prover, _ func() int) {
		for i := range 100 {
			target := with(func(t *Target) { t.Inputs = strconv.Itoa(i) })
			if got := p.Check(name, target); i > 1 && got != (ask.Answer{Verdict: ask.Rejected, Message: wanted.Refusal}) {
				t.Errorf("got %+v, want the refusal", got)
			}
			<-time.After(20 * time.Second)
		}
		if got := len(k.logins()); got != 1 {
			t.Errorf("%d logins with a refused password, want one", got)
		}
		k.set(accepted)
		corrected := with(func(t *Target) { t.Password = []byte("another") })
		if got := p.Check(name, corrected); got.Verdict != ask.Pending {
			t.Errorf("got %+v about another password, want %s", got, ask.Pending)
		}
		synctest.Wait()
		if got := p.Check(name, corrected); got.Verdict != ask.Accepted {
			t.Errorf("got %+v at once, want it accepted", got)
		}
	})
}

func TestLoginsAreNotConcurrent(t *testing.T) {
	k := &keystone{answer: refused, takes: 3 * time.Second}
	inBubble(t, k, func(p *Prover, _ func() int) {
		for i := range 20 {
			p.Check(name, with(func(t *Target) { t.Bootstrap = strconv.Itoa(i) }))
			<-time.After(time.Second)
		}
		<-time.After(time.Minute)
	})
	if k.most != 1 {
		t.Errorf("%d logins at a time", k.most)
	}
}

func TestLoginsAfterARestartAreSpreadOverTime(t *testing.T) {
	k := &keystone{answer: accepted}
	const keystones = 1000
	inBubble(t, k, func(p *Prover, passes func() int) {
		for i := range keystones {
			target := with(func(t *Target) { t.Before = ask.Accepted })
			p.Check(types.NamespacedName{Name: strconv.Itoa(i)}, target)
		}
		<-time.After(period / 2)
		if got := passes(); got != 0 {
			t.Errorf("%d passes, want none: that a login is accepted as before is no news", got)
		}
	})
	if len(k.at) != keystones {
		t.Errorf("%d logins at %d Keystones after a restart, want one at each", len(k.at), keystones)
	}
	seconds := map[int64]int{}
	for _, at := range k.at {
		seconds[at.Unix()]++
	}
	for _, logins := range seconds {
		if logins > keystones/20 {
			t.Errorf("%d logins within a second", logins)
		}
	}
}

func TestALoginFailureAfterARestartTriggersAReconcile(t *testing.T) {
	inBubble(t, &keystone{answer: answer{code: http.StatusInternalServerError}}, func(p *Prover, passes func() int) {
		p.Check(name, with(func(t *Target) { t.Before = ask.Accepted }))
		<-time.After(spread)
		if got := passes(); got != 1 {
			t.Errorf("%d passes, want one for the failure", got)
		}
	})
}

// A Keystone with a changed spec waits for a login, even if nothing about its pods has
// changed.
func TestADeferredLoginIsTriedImmediatelyOnceTheLastResultIsStale(t *testing.T) {
	k := &keystone{answer: accepted}
	inBubble(t, k, func(p *Prover, passes func() int) {
		begun := time.Now()
		p.Check(name, with(func(t *Target) { t.Before = ask.Accepted }))
		<-time.After(time.Millisecond)
		p.Check(name, wanted)
		synctest.Wait()
		<-time.After(spread)
		logins := k.logins()
		if len(logins) != 1 || logins[0].Sub(begun) > time.Second {
			t.Errorf("logins at %v, want one right after %v", logins, begun)
		}
		if got := passes(); got != 1 {
			t.Errorf("%d passes, want one for the login", got)
		}
	})
}

func TestASuspendedLoginIsNotTriedAndKeepsItsLastResult(t *testing.T) {
	k := &keystone{answer: accepted}
	inBubble(t, k, func(p *Prover, _ func() int) {
		if got := p.Suspend(name); got.Verdict != ask.Unproven {
			t.Errorf("got %+v, want nothing", got)
		}
		p.Check(name, wanted)
		synctest.Wait()
		if got := p.Suspend(name); got.Verdict != ask.Accepted {
			t.Errorf("got %+v, want the last finding", got)
		}
		<-time.After(10 * period)
		if got := len(k.logins()); got != 1 {
			t.Errorf("%d logins, want none while they are suspended", got)
		}
		p.Check(name, wanted)
		synctest.Wait()
		if got := len(k.logins()); got != 2 {
			t.Errorf("%d logins, want the one that is overdue", got)
		}
	})
}

func TestAForgottenLoginIsNotTried(t *testing.T) {
	k := &keystone{answer: answer{code: http.StatusInternalServerError}}
	inBubble(t, k, func(p *Prover, _ func() int) {
		p.Check(name, wanted)
		synctest.Wait()
		p.Forget(name)
		before := len(k.logins())
		<-time.After(period)
		if got := len(k.logins()); got != before {
			t.Errorf("%d logins at a Keystone that is gone", got-before)
		}
	})
}
