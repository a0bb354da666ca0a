package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/probe"
)

var (
	start  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	wanted = Target{Account: admin, Bootstrap: "one", Inputs: "pods", Retries: -1, Refusal: "refused"}
)

func with(change func(*Target)) Target {
	target := wanted
	change(&target)
	return target
}

func TestTheNextLoginTimeDependsOnTheLastResult(t *testing.T) {
	const never = -1 * time.Nanosecond
	tried := func(results ...ask.Verdict) func(*ask.History) {
		return func(h *ask.History) {
			for _, verdict := range results {
				h.Record(wanted.question(nil), wanted.explained(ask.Answer{Verdict: verdict}), start, 0)
			}
		}
	}
	changedPods := with(func(t *Target) { t.Inputs = "other pods" })
	changedPassword := with(func(t *Target) { t.Password = []byte("another") })
	again := with(func(t *Target) { t.Bootstrap = "two" })
	for title, test := range map[string]struct {
		before func(*ask.History)
		target Target
		// want is the expected delay after start; 0 means immediately.
		want time.Duration
	}{
		"at once, the first time":                           {tried(), wanted, 0},
		"never while it has to wait":                        {tried(), with(func(t *Target) { t.Wait = true }), never},
		"never without a password":                          {tried(), with(func(t *Target) { t.Password = nil }), never},
		"every hour when it is accepted":                    {tried(ask.Accepted), wanted, period},
		"soon after a change":                               {tried(ask.Accepted), changedPods, gap},
		"at once after a change of the password":            {tried(ask.Accepted), changedPassword, 0},
		"at once after another bootstrap":                   {tried(ask.Accepted), again, 0},
		"soon when the cache does not answer":               {tried(Uncached), wanted, firstUncached},
		"seldom when the cache never answers":               {tried(slices.Repeat([]ask.Verdict{Uncached}, 12)...), wanted, period},
		"every hour when the cache answers again":           {tried(Uncached, Uncached, ask.Accepted), wanted, period},
		"soon when it fails":                                {tried(Erred), wanted, firstRetry},
		"later when it fails again":                         {tried(Erred, Erred, Erred), wanted, 4 * firstRetry},
		"within half a minute whenever it fails":            {tried(Erred, Erred, Erred, Erred, Erred, Erred, Erred, Erred), wanted, lastRetry},
		"soon after a change when it fails":                 {tried(Erred, Erred, Erred, Erred), changedPods, gap},
		"after an hour when it is refused":                  {tried(ask.Rejected), wanted, firstPause},
		"no sooner when pods change":                        {tried(ask.Rejected), changedPods, firstPause},
		"after two hours when it is refused again":          {tried(ask.Rejected, ask.Rejected), wanted, 2 * firstPause},
		"soon when the try after the pause fails otherwise": {tried(ask.Rejected, Erred), wanted, firstRetry},
		"at once when a refused password is corrected":      {tried(ask.Rejected), changedPassword, 0},
		"at once when a bootstrap sets a refused one":       {tried(ask.Rejected), again, 0},
		"never again where accounts are locked":             {tried(ask.Rejected), with(func(t *Target) { t.Retries = 0 }), never},
		"as often as accounts are not locked for it":        {tried(ask.Rejected), with(func(t *Target) { t.Retries = 1 }), firstPause},
		"and not more often":                                {tried(ask.Rejected, ask.Rejected), with(func(t *Target) { t.Retries = 1 }), never},
		"soon after a change, once it is known to be settled": {
			func(h *ask.History) {
				h.Record(wanted.question(nil), ask.Answer{Verdict: ask.Accepted}, start.Add(-time.Minute), 0)
				h.Record(changedPods.question(nil), ask.Answer{Verdict: ask.Accepted}, start, 0)
			}, changedPods, settle,
		},
		"not at once after a restart": {
			func(h *ask.History) {
				h.Begin(with(func(t *Target) { t.Before = ask.Accepted }).question(nil), start, 0.5)
			}, wanted, spread / 2,
		},
		"not at once after a restart when it was refused": {
			func(h *ask.History) {
				h.Begin(with(func(t *Target) { t.Before = ask.Rejected }).question(nil), start, 0)
			}, wanted, firstPause,
		},
		"at once after a restart when it had failed otherwise": {
			func(h *ask.History) { h.Begin(wanted.question(nil), start, 0.5) }, wanted, 0,
		},
	} {
		t.Run(title, func(t *testing.T) {
			h := &ask.History{}
			test.before(h)
			at, ever := h.Due(test.target.question(nil))
			got := max(at.Sub(start), 0)
			if !ever {
				got = never
			}
			if got != test.want {
				t.Errorf("due after %s, want %s", got, test.want)
			}
		})
	}
}

func TestALoginResultCountsOnlyForItsAccountAndBootstrap(t *testing.T) {
	changedPassword := with(func(t *Target) { t.Password = []byte("another") })
	again := with(func(t *Target) { t.Bootstrap = "two" })
	for title, test := range map[string]struct {
		found  ask.Verdict
		target Target
		want   ask.Verdict
	}{
		"nothing yet":                           {ask.Unproven, wanted, ask.Unproven},
		"accepted":                              {ask.Accepted, wanted, ask.Accepted},
		"accepted without the cache":            {Uncached, wanted, Uncached},
		"accepted before pods changed":          {ask.Accepted, with(func(t *Target) { t.Inputs = "other" }), ask.Accepted},
		"accepted before the same bootstrap":    {ask.Accepted, again, ask.Accepted},
		"accepted, but another password":        {ask.Accepted, changedPassword, ask.Pending},
		"refused":                               {ask.Rejected, wanted, ask.Rejected},
		"refused before a bootstrap":            {ask.Rejected, again, ask.Pending},
		"failed, and then the password changed": {Erred, changedPassword, ask.Pending},
	} {
		t.Run(title, func(t *testing.T) {
			h := &ask.History{}
			if test.found != ask.Unproven {
				h.Record(wanted.question(nil), ask.Answer{Verdict: test.found}, start, 0)
			}
			if got := h.About(test.target.question(nil)); got.Verdict != test.want {
				t.Errorf("got %s, want %s", got.Verdict, test.want)
			}
		})
	}
}

func TestAnUnansweredLoginIsReportedTheSecondTime(t *testing.T) {
	for title, test := range map[string]struct {
		found []ask.Verdict
		want  ask.Verdict
	}{
		"once":                        {[]ask.Verdict{ask.Accepted, probe.Unreachable}, ask.Accepted},
		"twice":                       {[]ask.Verdict{ask.Accepted, probe.Unreachable, probe.TimedOut}, probe.TimedOut},
		"once and then once more":     {[]ask.Verdict{ask.Accepted, probe.Broken, ask.Accepted, probe.Unresolved}, ask.Accepted},
		"never accepted":              {[]ask.Verdict{probe.Unreachable}, probe.Unreachable},
		"an error is an answer":       {[]ask.Verdict{ask.Accepted, Erred}, Erred},
		"a refusal is an answer, too": {[]ask.Verdict{ask.Accepted, ask.Rejected}, ask.Rejected},
	} {
		t.Run(title, func(t *testing.T) {
			h := &ask.History{}
			for _, verdict := range test.found {
				h.Record(wanted.question(nil), wanted.explained(ask.Answer{Verdict: verdict}), start, 0)
			}
			if got := h.About(wanted.question(nil)); got.Verdict != test.want {
				t.Errorf("got %s, want %s", got.Verdict, test.want)
			}
		})
	}
}

// model simulates a Keystone, its operator, and a user who may do anything at any time.
type model struct {
	*rand.Rand
	now     time.Time
	target  Target
	history *ask.History
	// accepts is the password that Keystone accepts.
	accepts string
	// former are earlier targets in the lifetime of the operator.
	former  []Target
	serial  int
	refused map[string][]time.Time
}

func (m *model) next() string {
	m.serial++
	return strconv.Itoa(m.serial)
}

func (m *model) want(change func(*Target)) {
	m.former = append(m.former, m.target)
	change(&m.target)
}

func (m *model) step() (what string) {
	switch m.IntN(9) {
	case 0:
		m.want(func(t *Target) { t.Password, t.Bootstrap = []byte(m.next()), m.next() })
		if m.IntN(2) == 0 {
			m.accepts = string(m.target.Password)
		}
		return "another password"
	case 1:
		m.want(func(t *Target) { t.Bootstrap = m.next() })
		return "another bootstrap"
	case 2:
		m.want(func(t *Target) { t.Inputs = m.next() })
		return "other pods"
	case 3:
		if len(m.former) > 0 {
			m.want(func(t *Target) { *t = m.former[m.IntN(len(m.former))] })
		}
		return "back to what was before"
	case 4:
		m.accepts = m.next()
		return "another password in Keystone"
	case 5:
		m.target.Before = ""
		if before := m.history.About(m.target.question(nil)).Verdict; before == ask.Rejected || before == ask.Accepted {
			m.target.Before = before
		}
		m.history, m.former = &ask.History{}, nil
		m.history.Begin(m.target.question(nil), m.now, m.Float64())
		return "a restart"
	default:
		m.now = m.now.Add(time.Duration(m.Int64N(int64(90 * time.Minute))))
		return "time"
	}
}

// logIn makes an attempt if one is due, and describes an attempt that must not have
// happened.
func (m *model) logIn() (problem string) {
	question := m.target.question(nil)
	at, ever := m.history.Due(question)
	if !ever || at.After(m.now) {
		return ""
	}
	before := m.refused[question.ID]
	if len(before) > 0 {
		if since := m.now.Sub(before[len(before)-1]); since < firstPause {
			problem = fmt.Sprintf("a refused password is tried again after %s", since)
		}
		if m.target.Retries == 0 {
			problem = "a refused password is tried again where accounts are locked"
		}
	}
	verdict := ask.Accepted
	switch {
	case m.IntN(4) == 0:
		verdict = Erred
	case string(m.target.Password) != m.accepts:
		verdict = ask.Rejected
		m.refused[question.ID] = append(before, m.now)
	default:
		delete(m.refused, question.ID)
	}
	m.history.Record(question, ask.Answer{Verdict: verdict}, m.now, m.Float64())
	return problem
}

func TestARefusedPasswordIsNeverRetriedTooSoon(t *testing.T) {
	for seed := range uint64(300) {
		m := &model{
			Rand: rand.New(rand.NewPCG(seed, 0)), now: start, target: wanted, history: &ask.History{},
			accepts: password, refused: map[string][]time.Time{},
		}
		m.target.Retries = int(seed%2) - 1
		var log []string
		for range 400 {
			log = append(log, m.step())
			for range 3 {
				if problem := m.logIn(); problem != "" {
					t.Fatalf("seed %d: %s, after %v", seed, problem, log)
				}
			}
		}
	}
}
