package ask

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Ledger holds the questions about resources, and has them asked, one at a time for each
// resource. It is a manager runnable.
type Ledger struct {
	Loop
	now func(namespace string) time.Time

	mu      sync.Mutex
	entries map[types.NamespacedName]map[string]*entry
}

// entry is a subject of a resource.
type entry struct {
	History
	question Question
	// wanted means that a pass has found the question due.
	wanted bool
	// announced is when a user first read of the last answer, zero before.
	announced time.Time
}

// New returns an empty Ledger that asks about up to the given number of resources
// concurrently. now is the clock of a namespace; nil means time.Now.
func New(workers int, now func(namespace string) time.Time) *Ledger {
	if now == nil {
		now = func(string) time.Time { return time.Now() }
	}
	return &Ledger{Loop: NewLoop(workers), now: now, entries: map[types.NamespacedName]map[string]*entry{}}
}

// Check returns the answer that applies to the question, and has it asked if or when that is
// due. The question replaces the former one about its subject.
func (l *Ledger) Check(of types.NamespacedName, q Question) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, now := l.entries[of][q.Subject], l.now(of.Namespace)
	changed := e == nil || e.question.differs(q)
	switch {
	case e == nil:
		e = &entry{}
		e.Begin(q, now, rand.Float64()) //nolint:gosec // Not a secret: it only spreads load.
		if l.entries[of] == nil {
			l.entries[of] = map[string]*entry{}
		}
		l.entries[of][q.Subject] = e
	case e.question.ID != q.ID, e.question.Inputs != q.Inputs, q.Before.Verdict != Accepted:
		e.first = time.Time{}
	}
	e.question = q
	at, ever := e.Due(q)
	switch {
	case !ever:
	case q.Policy.Repeats && changed:
		l.Schedule(of, at.Sub(now))
	case !q.Policy.Repeats && !e.wanted && !at.After(now):
		e.wanted = true
		l.Schedule(of, 0)
	}
	return e.known()
}

// differs reports whether something that decides when to ask is different.
func (q Question) differs(other Question) bool {
	return q.ID != other.ID || q.Inputs != other.Inputs || q.Hold != other.Hold || q.Limit != other.Limit ||
		q.Before.Verdict != other.Before.Verdict
}

// known returns what a pass gets to know about the current question.
func (e *entry) known() Answer {
	if e.id == "" {
		return e.question.Before
	}
	return e.About(e.question)
}

// Suspend stops asking about a subject until the next Check, and returns the last answer,
// whatever its question was.
func (l *Ledger) Suspend(of types.NamespacedName, subject string) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[of][subject]
	if e == nil {
		return Answer{}
	}
	e.question.Hold, e.question.Ask, e.wanted = true, nil, false
	return e.answer
}

// Last returns the last answer about a subject, whatever its question was.
func (l *Ledger) Last(of types.NamespacedName, subject string) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[of][subject]; e != nil {
		return e.answer
	}
	return Answer{}
}

// Announce records that the user reads in the status that the question with an id is
// answered with a verdict.
func (l *Ledger) Announce(of types.NamespacedName, id string, verdict Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.answered(of, id); e != nil && e.answer.Verdict == verdict && e.announced.IsZero() {
		e.announced = l.now(of.Namespace)
	}
}

// Announced returns how long ago the verdict of the question with an id was first announced.
func (l *Ledger) Announced(of types.NamespacedName, id string) (ago time.Duration, announced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.answered(of, id)
	if e == nil || e.announced.IsZero() {
		return 0, false
	}
	return l.now(of.Namespace).Sub(e.announced), true
}

// answered returns the subject whose last answer is that to the question with an id.
func (l *Ledger) answered(of types.NamespacedName, id string) *entry {
	for _, e := range l.entries[of] {
		if e.id == id {
			return e
		}
	}
	return nil
}

// Drop forgets a subject of a resource.
func (l *Ledger) Drop(of types.NamespacedName, subject string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.entries[of], subject)
}

// Forget forgets a resource.
func (l *Ledger) Forget(of types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.entries, of)
}

// Start asks until ctx ends.
func (l *Ledger) Start(ctx context.Context) error {
	l.Run(ctx, func(ctx context.Context, of types.NamespacedName) {
		for {
			asked, news := l.AskNext(ctx, of)
			if !asked || news && !l.Tell(ctx, of) {
				return
			}
		}
	})
	return nil
}

// AskNext asks one question about a resource, and returns false if none is due. It returns
// whether the answer is news.
func (l *Ledger) AskNext(ctx context.Context, of types.NamespacedName) (asked, news bool) {
	e, q := l.next(of)
	if e == nil {
		return false, false
	}
	answer := q.Ask(ctx)
	if ctx.Err() != nil {
		return false, false
	}
	return true, l.record(of, e, q, answer)
}

// next returns the question to ask. If it becomes due later, a worker is to look again then.
func (l *Ledger) next(of types.NamespacedName) (*entry, Question) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now(of.Namespace)
	for _, e := range l.entries[of] {
		at, ever := e.Due(e.question)
		switch {
		case e.wanted, e.question.Policy.Repeats && ever && !at.After(now):
			return e, e.question
		case e.question.Policy.Repeats && ever:
			l.Schedule(of, at.Sub(now))
		}
	}
	return nil, Question{}
}

// record records an answer, and returns whether it is news. Nobody waits for one about
// something that was forgotten meanwhile.
func (l *Ledger) record(of types.NamespacedName, e *entry, q Question, answer Answer) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[of][q.Subject] != e {
		return false
	}
	now, before, was := l.now(of.Namespace), e.known(), e.History
	e.Record(q, answer, now, rand.Float64()) //nolint:gosec // Not a secret: it only spreads load.
	e.wanted = false
	if e.id != was.id || e.answer.Verdict != was.answer.Verdict {
		e.announced = time.Time{}
	}
	for subject, other := range l.entries[of] {
		if expires := other.question.Policy.Expires; expires > 0 && !other.wanted && now.Sub(other.at) >= expires {
			delete(l.entries[of], subject)
		}
	}
	if !q.Policy.Repeats {
		return true
	}
	if at, ever := e.Due(e.question); ever {
		l.Schedule(of, at.Sub(now))
	}
	after := e.known()
	if was.id == "" {
		// The message of the process before this one is not known.
		return after.Verdict != before.Verdict && after.Verdict != Pending
	}
	return after.Verdict != before.Verdict || after.Message != before.Message
}
