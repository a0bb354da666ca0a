package ask

import "time"

// History is what is known about a subject. The zero value knows nothing.
type History struct {
	// first is the earliest time of the first answer.
	first time.Time
	// id, kin and inputs are those of the question that was answered last, "" before.
	id, kin, inputs string
	at              time.Time
	answer          Answer
	// failures counts consecutive answers other than Accepted.
	failures int
	// again is when the last question is repeated if nothing has changed.
	again time.Time
	// rejections are by the id of the question.
	rejections map[string]rejection
}

// rejection is what keeps a question from being asked.
type rejection struct {
	answer Answer
	times  int
	until  time.Time
}

// Begin takes over what the process before this one knew. jitter is between 0 and 1.
func (h *History) Begin(q Question, now time.Time, jitter float64) {
	switch q.Before.Verdict {
	case Rejected:
		h.Record(q, q.Before, now, jitter)
	case Accepted:
		h.first = now.Add(time.Duration(jitter * float64(q.Policy.Spread)))
	}
}

// Due returns when to ask the question; the zero time means now. It returns false if the
// passing of time alone is no reason to ask.
func (h *History) Due(q Question) (time.Time, bool) {
	rejected, found := h.rejections[q.ID]
	changed := h.inputs != q.Inputs
	switch {
	case q.Hold:
		return time.Time{}, false
	case found:
		return rejected.until, q.Limit < 0 || rejected.times <= q.Limit
	case h.id == "":
		return h.first, true
	case h.id != q.ID, changed && !q.Policy.Repeats && h.answer.Verdict != Accepted:
		return time.Time{}, true
	case !q.Policy.Repeats:
		return h.at.Add(q.Policy.Again(h.answer.Verdict, h.failures)), true
	case changed && h.again.After(h.at.Add(q.Policy.Gap)):
		return h.at.Add(q.Policy.Gap), true
	}
	return h.again, true
}

// Record records an answer.
func (h *History) Record(q Question, answer Answer, now time.Time, jitter float64) {
	p, before, changed := q.Policy, h.About(q), h.id != "" && h.inputs != q.Inputs
	if p.Afresh && (changed || h.id != q.ID) {
		h.failures = 0
	}
	doubted := p.Doubts != nil && before.Verdict.accepts() && p.Doubts(answer)
	if doubted && !p.Repeats {
		answer = before
	}
	h.id, h.kin, h.inputs, h.at, h.answer = q.ID, q.Kin, q.Inputs, now, answer
	if p.Repeats && answer.Verdict == Rejected {
		h.reject(q, now, jitter)
		return
	}
	h.failures++
	if answer.Verdict == Accepted {
		h.failures = 0
	}
	h.again = now.Add(jittered(p.pause(answer.Verdict, h.failures, changed), jitter))
	h.postpone(answer.Verdict)
	if doubted && h.failures == 1 {
		h.answer = before
	}
}

// pause returns how long a question is left alone. changed reports whether its inputs are others
// than those of the answer before.
func (p Policy) pause(verdict Verdict, failures int, changed bool) time.Duration {
	if verdict == Accepted && changed && p.Settle > 0 {
		return p.Settle
	}
	return p.Again(verdict, failures)
}

// postpone keeps a question that was rejected before from being asked before it is due, unless the
// last answer accepts.
func (h *History) postpone(verdict Verdict) {
	rejected, found := h.rejections[h.id]
	switch {
	case verdict.accepts():
		delete(h.rejections, h.id)
	case found:
		rejected.until = h.again
		h.rejections[h.id] = rejected
	}
}

// reject keeps the question that was answered last from being asked sooner.
func (h *History) reject(q Question, now time.Time, jitter float64) {
	times := h.rejections[q.ID].times + 1
	h.failures, h.again = 0, now.Add(jittered(q.Policy.Again(Rejected, times), jitter))
	if h.rejections == nil {
		h.rejections = map[string]rejection{}
	}
	h.rejections[q.ID] = rejection{answer: h.answer, times: times, until: h.again}
}

// About returns the answer that applies to the question.
func (h *History) About(q Question) Answer {
	rejected, found := h.rejections[q.ID]
	switch {
	case found && (h.id != q.ID || h.answer.Verdict == Rejected):
		return rejected.answer
	case h.id == q.ID:
		return h.answer
	case h.id == "":
		return Answer{}
	case q.Kin == "", h.kin != q.Kin, h.answer.Verdict == Rejected:
		return Answer{Verdict: Pending}
	}
	return h.answer
}

// jittered adds up to a fifth, so that questions that were asked together drift apart.
func jittered(d time.Duration, jitter float64) time.Duration {
	return d + time.Duration(jitter*float64(d/5))
}
