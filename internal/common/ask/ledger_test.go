package ask

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var name = types.NamespacedName{Namespace: "openstack", Name: "keystone"}

// inBackground runs a Ledger in virtual time; told receives the resources that it announces.
func inBackground(t *testing.T, test func(t *testing.T, l *Ledger, told <-chan types.NamespacedName)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := New(64, nil)
		ctx, stop := context.WithCancel(t.Context())
		ended, told := make(chan error, 1), make(chan types.NamespacedName, 1000)
		go func() { ended <- l.Start(ctx) }()
		go func() {
			for {
				select {
				case news := <-l.News():
					told <- types.NamespacedName{Namespace: news.Object.GetNamespace(), Name: news.Object.GetName()}
				case <-ctx.Done():
					return
				}
			}
		}()
		test(t, l, told)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// about is a question about a subject that is answered as given.
func about(subject string, policy Policy, ask func(context.Context) Answer) Question {
	return Question{Subject: subject, ID: subject, Limit: -1, Policy: policy, Ask: ask}
}

func TestAQuestionIsAskedOnceAndThenItsResourceIsReconciled(t *testing.T) {
	inBackground(t, func(t *testing.T, l *Ledger, told <-chan types.NamespacedName) {
		asked := 0
		ask := func(context.Context) Answer { <-time.After(time.Second); asked++; return Answer{Verdict: Accepted} }
		for range 3 {
			l.Check(name, about("login", once, ask))
		}
		l.Check(name, about("revocation", once, ask))
		for range 2 {
			if got := <-told; got != name {
				t.Errorf("told about %s, want %s", got, name)
			}
		}
		<-time.After(2 * time.Hour)
		if asked != 2 || len(told) > 0 {
			t.Errorf("asked %d times and told %d times more, want 2 and none", asked, len(told))
		}
		l.Check(name, about("login", once, ask))
		<-told
		if asked != 3 {
			t.Errorf("asked %d times, want 3", asked)
		}
	})
}

func TestSlowAnswersDoNotDelayOtherResources(t *testing.T) {
	inBackground(t, func(t *testing.T, l *Ledger, told <-chan types.NamespacedName) {
		for i := range 10 {
			silent := types.NamespacedName{Namespace: "silent", Name: string(rune('a' + i))}
			l.Check(silent, about("login", once, func(ctx context.Context) Answer { <-ctx.Done(); return Answer{} }))
		}
		began := time.Now()
		l.Check(name, about("login", once, func(context.Context) Answer { return Answer{} }))
		if got := <-told; got != name || time.Since(began) > 0 {
			t.Errorf("told about %s after %s, want %s at once", got, time.Since(began), name)
		}
	})
}

// script answers with one verdict after the other, and then with the last one.
func script(asked *int, answers ...Answer) func(context.Context) Answer {
	return func(context.Context) Answer {
		*asked++
		return answers[min(*asked, len(answers))-1]
	}
}

func TestARepeatedQuestionTriggersAReconcileOnlyWhenItsAnswerChanges(t *testing.T) {
	up, down, away := Answer{Verdict: Accepted}, Answer{Verdict: failing, Message: "down"}, Answer{Verdict: failing, Message: "away"}
	refused := Answer{Verdict: Rejected, Message: "refused"}
	for title, test := range map[string]struct {
		before  Answer
		answers []Answer
		want    int
	}{
		"the first answer":                  {Answer{}, []Answer{up, up, up}, 1},
		"what was known before a restart":   {up, []Answer{up, up, up}, 0},
		"a failure after a restart":         {up, []Answer{down, down, up}, 2},
		"accepted with a failure":           {up, []Answer{{Verdict: Impaired}, up}, 2},
		"another message":                   {Answer{}, []Answer{down, away, away}, 2},
		"what was rejected before, too":     {refused, []Answer{up}, 1},
		"what was rejected before, as then": {refused, []Answer{refused}, 0},
	} {
		inBackground(t, func(t *testing.T, l *Ledger, told <-chan types.NamespacedName) {
			asked := 0
			q := about("api", repeated, script(&asked, test.answers...))
			q.Before = test.before
			if got := l.Check(name, q); got != test.before {
				t.Errorf("%s: %+v before any answer, want %+v", title, got, test.before)
			}
			<-time.After(30 * time.Hour)
			if asked < len(test.answers) || len(told) != test.want {
				t.Errorf("%s: told %d times about %d answers, want %d", title, len(told), asked, test.want)
			}
		})
	}
}

func TestAQuestionIsAskedAtOnceAfterARestartUnlessTheStatusHasItsAnswer(t *testing.T) {
	inBackground(t, func(t *testing.T, l *Ledger, told <-chan types.NamespacedName) {
		asked, policy := 0, repeated
		policy.Spread = time.Hour
		q := about("login", policy, script(&asked, Answer{Verdict: Accepted}))
		q.Before.Verdict = Accepted
		l.Check(name, q)
		q.Before.Verdict = Unproven
		l.Check(name, q)
		synctest.Wait()
		if asked != 1 || len(told) != 1 {
			t.Errorf("asked %d times and told %d times, want once", asked, len(told))
		}
	})
}

func TestTheAnswerBeforeARestartCountsUntilTheFirstAnswer(t *testing.T) {
	l := New(1, nil)
	q := about("region", once, func(context.Context) Answer { return Answer{Verdict: Accepted} })
	q.Before.Verdict = Accepted
	for _, want := range []bool{true, false} {
		if got := l.Check(name, q).Verdict; got != Accepted {
			t.Errorf("%q as before the restart", got)
		}
		if asked, _ := l.AskNext(t.Context(), name); asked != want {
			t.Errorf("asked %t, want %t", asked, want)
		}
	}
	q.ID = "another region"
	if got := l.Check(name, q).Verdict; got != Pending {
		t.Errorf("%q about another question, want %q", got, Pending)
	}
}

// While a question is being asked, another one takes its place: the answer is not one to that.
func TestAQuestionThatChangesWhileItIsAskedIsAskedAgain(t *testing.T) {
	for title, change := range map[string]func(*Question){
		"another question": func(q *Question) { q.ID = "another" },
		"other inputs":     func(q *Question) { q.Inputs = "other" },
	} {
		for _, policy := range []Policy{repeated, once} {
			inBackground(t, func(t *testing.T, l *Ledger, told <-chan types.NamespacedName) {
				first, second := about("login", policy, nil), about("login", policy, nil)
				first.Ask = func(context.Context) Answer {
					<-time.After(time.Second)
					return Answer{Verdict: failing, Message: "first"}
				}
				second.Ask = func(context.Context) Answer { return Answer{Verdict: Accepted, Message: "second"} }
				change(&second)
				l.Check(name, first)
				synctest.Wait()
				if got := l.Check(name, second); got.Verdict == failing {
					t.Errorf("%s: got %+v before any answer", title, got)
				}
				<-told
				// A pass that is triggered asks.
				l.Check(name, second)
				synctest.Wait()
				if got := l.Check(name, second); got.Message != "second" {
					t.Errorf("%s: got %+v", title, got)
				}
			})
		}
	}
}

func TestTheRejectionOfAnEarlierQuestionIsRemembered(t *testing.T) {
	inBackground(t, func(t *testing.T, l *Ledger, _ <-chan types.NamespacedName) {
		asked := 0
		wrong := about("login", repeated, nil)
		wrong.Ask = func(context.Context) Answer {
			asked++
			<-time.After(time.Second)
			return Answer{Verdict: Rejected, Message: "refused"}
		}
		right := about("login", repeated, func(context.Context) Answer { return Answer{Verdict: Accepted} })
		right.ID = "right"
		l.Check(name, wrong)
		synctest.Wait()
		l.Check(name, right)
		<-time.After(time.Minute)
		if got := l.Check(name, wrong); got.Verdict != Rejected || got.Message != "refused" {
			t.Errorf("got %+v", got)
		}
		<-time.After(time.Hour)
		if asked != 1 {
			t.Errorf("what was rejected was asked %d times", asked)
		}
	})
}

func TestAHeldQuestionIsNotAskedAndItsLastAnswerStays(t *testing.T) {
	inBackground(t, func(t *testing.T, l *Ledger, _ <-chan types.NamespacedName) {
		asked := 0
		q := about("login", repeated, script(&asked, Answer{Verdict: Accepted}))
		if got := l.Suspend(name, "login"); got != (Answer{}) {
			t.Errorf("got %+v, want nothing", got)
		}
		l.Check(name, q)
		synctest.Wait()
		if got := l.Suspend(name, "login"); got.Verdict != Accepted {
			t.Errorf("got %+v, want the last answer", got)
		}
		<-time.After(10 * time.Hour)
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		l.Check(name, q)
		synctest.Wait()
		if asked != 2 {
			t.Errorf("asked %d times, want what is overdue", asked)
		}
	})
}

func TestNothingIsAskedAboutAForgottenResource(t *testing.T) {
	for title, forget := range map[string]func(*Ledger){
		"forgotten": func(l *Ledger) { l.Forget(name) }, "dropped": func(l *Ledger) { l.Drop(name, "login") },
	} {
		l := New(1, nil)
		q := about("login", once, func(context.Context) Answer { t.Errorf("%s, it was asked", title); return Answer{} })
		l.Check(name, q)
		forget(l)
		if asked, _ := l.AskNext(t.Context(), name); asked {
			t.Errorf("%s, something was asked", title)
		}
		if got := l.Last(name, "login"); got != (Answer{}) {
			t.Errorf("%s, %+v is known", title, got)
		}
	}
}

func TestALateAnswerIsNotRecordedForANewResourceOfTheSameName(t *testing.T) {
	l := New(1, nil)
	q := about("login", repeated, nil)
	q.Ask = func(context.Context) Answer {
		l.Forget(name)
		l.Check(name, q)
		return Answer{Verdict: Rejected}
	}
	l.Check(name, q)
	if asked, news := l.AskNext(t.Context(), name); !asked || news {
		t.Errorf("asked %t, news %t", asked, news)
	}
	if got := l.Check(name, q); got != (Answer{}) {
		t.Errorf("the successor is answered with %+v", got)
	}
}

func TestUnusedQuestionsExpire(t *testing.T) {
	now := start
	l := New(1, func(string) time.Time { return now })
	policy := once
	policy.Expires = time.Hour
	for _, subject := range []string{"one", "two", "three"} {
		l.Check(name, about(subject, policy, func(context.Context) Answer { return Answer{Verdict: Rejected} }))
		l.AskNext(t.Context(), name)
		now = now.Add(30 * time.Minute)
	}
	for subject, want := range map[string]Verdict{"one": Unproven, "two": Rejected, "three": Rejected} {
		if got := l.Last(name, subject).Verdict; got != want {
			t.Errorf("%s is known as %q, want %q", subject, got, want)
		}
	}
}

func TestAVerdictStaysAnnouncedUntilItChanges(t *testing.T) {
	now, verdict := start, Rejected
	l := New(1, func(string) time.Time { return now })
	ask := func() {
		l.Check(name, about("user", once, func(context.Context) Answer { return Answer{Verdict: verdict} }))
		l.AskNext(t.Context(), name)
		now = now.Add(100 * 24 * time.Hour)
	}
	ask()
	if _, announced := l.Announced(name, "user"); announced {
		t.Error("announced before anybody has read it")
	}
	l.Announce(name, "user", Rejected)
	l.Announce(name, "user", Accepted)
	ask()
	l.Announce(name, "user", Rejected)
	if ago, announced := l.Announced(name, "user"); !announced || ago != 100*24*time.Hour {
		t.Errorf("announced %t, %s ago", announced, ago)
	}
	verdict = Accepted
	ask()
	if _, announced := l.Announced(name, "user"); announced {
		t.Error("announced after it has changed")
	}
}

// Whatever passes and workers do at the same time, there is one question at a time about a resource.
func TestALedgerIsUsedConcurrently(t *testing.T) {
	l := New(8, nil)
	ctx, stop := context.WithCancel(t.Context())
	var asked atomic.Int64
	running := [4]atomic.Int64{}
	ended := make(chan error, 1)
	go func() { ended <- l.Start(ctx) }()
	go func() {
		for {
			select {
			case <-l.News():
			case <-ctx.Done():
				return
			}
		}
	}()
	var passes sync.WaitGroup
	for pass := range 8 {
		passes.Go(func() {
			for i := range 500 {
				resource := (pass + i) % len(running)
				of := types.NamespacedName{Namespace: "openstack", Name: strconv.Itoa(resource)}
				q := about(fmt.Sprint(i%3), repeated, func(context.Context) Answer {
					if running[resource].Add(1) > 1 {
						t.Error("two questions at a time about one resource")
					}
					asked.Add(1)
					running[resource].Add(-1)
					return Answer{Verdict: []Verdict{Accepted, Rejected, failing}[i%3]}
				})
				if i%2 == 0 {
					q.Policy = once
				}
				q.ID, q.Inputs = fmt.Sprint(i%5), fmt.Sprint(i)
				l.Check(of, q)
				switch i % 50 {
				case 10:
					l.Suspend(of, q.Subject)
				case 20:
					l.Announce(of, q.ID, Rejected)
					l.Announced(of, q.ID)
				case 30:
					l.Drop(of, q.Subject)
				case 40:
					l.Forget(of)
				}
				l.Last(of, q.Subject)
			}
		})
	}
	passes.Wait()
	stop()
	if err := <-ended; err != nil || asked.Load() == 0 {
		t.Errorf("%d questions were asked (%v)", asked.Load(), err)
	}
}
