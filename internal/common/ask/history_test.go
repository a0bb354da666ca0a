package ask

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// failing is a verdict of those who ask.
const failing Verdict = "Failing"

// again leaves a question alone for an hour after it was accepted, for a day that doubles after it was
// rejected, and for a second that doubles after everything else.
func again(verdict Verdict, times int) time.Duration {
	switch verdict {
	case Accepted:
		return time.Hour
	case Rejected:
		return Doubled(24*time.Hour, 4*24*time.Hour, times)
	}
	return Doubled(time.Second, time.Hour, times)
}

var (
	repeated = Policy{Again: again, Repeats: true}
	once     = Policy{Again: again, Afresh: true}
)

func question(policy Policy, change ...func(*Question)) Question {
	q := Question{ID: "one", Inputs: "pods", Limit: -1, Policy: policy}
	for _, changed := range change {
		changed(&q)
	}
	return q
}

func TestThePolicyDeterminesWhenAQuestionIsDue(t *testing.T) {
	const never = -1 * time.Nanosecond
	another := func(q *Question) { q.ID = "another" }
	inputs := func(q *Question) { q.Inputs = "other pods" }
	gap, settle, spread := repeated, repeated, repeated
	gap.Gap, settle.Settle, spread.Spread = time.Minute, time.Minute, time.Hour
	accepted := func(q *Question) { q.Before.Verdict = Accepted }
	rejected := func(q *Question) { q.Before.Verdict = Rejected }
	for title, test := range map[string]struct {
		// first is the question when it is first asked, and now the one of which is to be said when it is due.
		first, now Question
		answers    []Verdict
		want       time.Duration
	}{
		"at once if it was never asked":         {question(repeated), question(repeated), nil, 0},
		"never while it is held":                {question(repeated), question(repeated, func(q *Question) { q.Hold = true }), nil, never},
		"after the period if it was accepted":   {question(repeated), question(repeated), []Verdict{Accepted}, time.Hour},
		"soon if it failed":                     {question(repeated), question(repeated), []Verdict{failing}, time.Second},
		"less often if it fails again":          {question(repeated), question(repeated), []Verdict{failing, failing, failing}, 4 * time.Second},
		"soon if it is accepted with a failure": {question(repeated), question(repeated), []Verdict{Accepted, Impaired}, time.Second},
		"soon again after it was accepted":      {question(repeated), question(repeated), []Verdict{failing, Accepted, failing}, time.Second},
		"at once if it is another":              {question(repeated), question(repeated, another), []Verdict{Accepted}, 0},
		"at once with other inputs":             {question(repeated), question(repeated, inputs), []Verdict{Accepted}, 0},
		"after a gap with other inputs":         {question(gap), question(gap, inputs), []Verdict{Accepted}, time.Minute},
		"seldom if it was rejected":             {question(repeated), question(repeated), []Verdict{Rejected, Rejected}, 48 * time.Hour},
		"no sooner with other inputs":           {question(repeated), question(repeated, inputs), []Verdict{Rejected}, 24 * time.Hour},
		"at once if another was rejected":       {question(repeated), question(repeated, another), []Verdict{Rejected}, 0},
		"soon if it fails after a rejection":    {question(repeated), question(repeated), []Verdict{Rejected, failing}, time.Second},
		"never again beyond its limit": {
			question(repeated), question(repeated, func(q *Question) { q.Limit = 1 }), []Verdict{Rejected, Rejected}, never,
		},
		"as often as its limit says": {
			question(repeated), question(repeated, func(q *Question) { q.Limit = 2 }), []Verdict{Rejected, Rejected}, 48 * time.Hour,
		},
		"later if it was accepted before a restart": {question(spread, accepted), question(spread, accepted), nil, 30 * time.Minute},
		"seldom if it was rejected before a restart": {
			question(repeated, rejected), question(repeated, rejected), nil, 24 * time.Hour,
		},
		"of a pass: after the period":             {question(once), question(once), []Verdict{Accepted}, time.Hour},
		"of a pass: not for other inputs":         {question(once), question(once, inputs), []Verdict{Accepted}, time.Hour},
		"of a pass: at once if it failed on them": {question(once), question(once, inputs), []Verdict{failing}, 0},
		"of a pass: less often if it fails":       {question(once), question(once), []Verdict{failing, Rejected, failing}, 4 * time.Second},
	} {
		t.Run(title, func(t *testing.T) {
			h := &History{}
			h.Begin(test.first, start, 0.5)
			for _, verdict := range test.answers {
				h.Record(test.first, Answer{Verdict: verdict}, start, 0)
			}
			at, ever := h.Due(test.now)
			got := max(at.Sub(start), 0)
			if !ever {
				got = never
			}
			// The wait after a rejection before a restart has a jitter.
			if got != test.want && got != test.want+test.want/10 {
				t.Errorf("due after %s, want %s", got, test.want)
			}
		})
	}
	h := &History{}
	h.Record(question(settle), Answer{Verdict: Accepted}, start, 0)
	h.Record(question(settle, inputs), Answer{Verdict: Accepted}, start, 0)
	if at, _ := h.Due(question(settle, inputs)); at.Sub(start) != time.Minute {
		t.Errorf("verified %s after a change was accepted, want a minute", at.Sub(start))
	}
}

func TestChangedInputsResetTheFailureCountIfThePolicyDemandsIt(t *testing.T) {
	for _, policy := range []Policy{repeated, {Again: again, Repeats: true, Afresh: true}} {
		h := &History{}
		for range 3 {
			h.Record(question(policy), Answer{Verdict: failing}, start, 0)
		}
		changed := question(policy, func(q *Question) { q.Inputs = "other pods" })
		h.Record(changed, Answer{Verdict: failing}, start, 0)
		want := 8 * time.Second
		if policy.Afresh {
			want = time.Second
		}
		if at, _ := h.Due(changed); at.Sub(start) != want {
			t.Errorf("afresh %t: due after %s, want %s", policy.Afresh, at.Sub(start), want)
		}
	}
}

func TestAnAnswerCountsForItsQuestionAndItsKin(t *testing.T) {
	kin := func(id string) func(*Question) { return func(q *Question) { q.ID, q.Kin = id, "kin" } }
	for title, test := range map[string]struct {
		asked, about Question
		answer, want Verdict
	}{
		"itself":                    {question(repeated), question(repeated), failing, failing},
		"another":                   {question(repeated), question(repeated, func(q *Question) { q.ID = "another" }), Accepted, Pending},
		"its kin":                   {question(repeated, kin("one")), question(repeated, kin("another")), Accepted, Accepted},
		"its kin, unless rejected":  {question(repeated, kin("one")), question(repeated, kin("another")), Rejected, Pending},
		"its kin, which has failed": {question(repeated, kin("one")), question(repeated, kin("another")), failing, failing},
	} {
		h := &History{}
		if got := h.About(test.about); got != (Answer{}) {
			t.Errorf("%s: %+v before any answer", title, got)
		}
		h.Record(test.asked, Answer{Verdict: test.answer}, start, 0)
		if got := h.About(test.about).Verdict; got != test.want {
			t.Errorf("%s: got %q, want %q", title, got, test.want)
		}
	}
}

func TestADoubtfulAnswerDoesNotReplaceAnAcceptedOne(t *testing.T) {
	doubts := func(a Answer) bool { return a.Verdict == failing }
	for title, test := range map[string]struct {
		repeats bool
		answers []Verdict
		want    Verdict
		again   time.Duration
	}{
		"repeated, once":           {true, []Verdict{Accepted, failing}, Accepted, time.Second},
		"repeated, twice":          {true, []Verdict{Accepted, failing, failing}, failing, 2 * time.Second},
		"repeated, never accepted": {true, []Verdict{failing}, failing, time.Second},
		"of a pass, twice":         {false, []Verdict{Accepted, failing, failing}, Accepted, time.Hour},
		"of a pass, not doubted":   {false, []Verdict{Accepted, Rejected}, Rejected, 24 * time.Hour},
	} {
		q, h := question(Policy{Again: again, Doubts: doubts, Repeats: test.repeats}), &History{}
		for _, verdict := range test.answers {
			h.Record(q, Answer{Verdict: verdict}, start, 0)
		}
		at, _ := h.Due(q)
		if got := h.About(q).Verdict; got != test.want || at.Sub(start) != test.again {
			t.Errorf("%s: %q, due after %s, want %q and %s", title, got, at.Sub(start), test.want, test.again)
		}
	}
}

// What is rejected is left alone for a day, whatever else is asked meanwhile, and by whatever process.
func TestARejectedQuestionIsNeverRepeatedBeforeItIsDue(t *testing.T) {
	for seed := range uint64(200) {
		r, now, h := rand.New(rand.NewPCG(seed, 0)), start, &History{}
		rejected, known := map[string]time.Time{}, map[string]bool{}
		for range 200 {
			q := question(repeated, func(q *Question) { q.ID, q.Inputs = fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3)) })
			if r.IntN(20) == 0 {
				last := h.About(q)
				*h = History{}
				clear(known)
				if last.Verdict == Rejected {
					q.Before, known[q.ID] = last, true
				}
				h.Begin(q, now, r.Float64())
			}
			now = now.Add(time.Duration(r.Int64N(int64(10 * time.Hour))))
			at, ever := h.Due(q)
			if !ever || at.After(now) {
				continue
			}
			if since, found := rejected[q.ID]; found && known[q.ID] && now.Sub(since) < 24*time.Hour {
				t.Fatalf("seed %d: asked %s after it was rejected", seed, now.Sub(since))
			}
			answer := []Verdict{Accepted, Rejected, Rejected, failing}[r.IntN(4)]
			switch answer {
			case Rejected:
				rejected[q.ID], known[q.ID] = now, true
			case Accepted:
				delete(rejected, q.ID)
			}
			h.Record(q, Answer{Verdict: answer}, now, r.Float64())
		}
	}
}
