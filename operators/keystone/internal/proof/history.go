package proof

import "time"

const (
	// period is the interval of repeating an accepted login when nothing changes: some of
	// its inputs, such as the cache, are not watched.
	period = time.Hour
	// settle is the delay before an accepted login is repeated after a change. The
	// kubelet may take a minute and a half until pods have the keys of a changed Secret.
	settle = 2 * time.Minute
	// spread is the time over which a restarted operator distributes the logins that its
	// predecessor had verified.
	spread = 5 * time.Minute
	// gap is the minimum interval between two logins for changes other than of the
	// password.
	gap = time.Second

	// A login that fails for a reason other than the password is retried soon, and then
	// with backoff.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second

	// firstUncached is the delay before a login without the cache is repeated for the
	// first time. DNS names and servers of a new cache need about that long.
	firstUncached = 10 * time.Second

	// A rejected password is not retried for firstPause, and for twice as long after each
	// further attempt.
	firstPause = time.Hour
	lastPause  = 16 * time.Hour
)

// Target is a login to verify.
type Target struct {
	Account
	// Bootstrap identifies the bootstrap run that set the password in Keystone.
	Bootstrap string
	// Inputs changes with everything else that a login depends on, such as pods and keys.
	Inputs string
	// Wait suspends all attempts.
	Wait bool
	// Retries is how often a rejected password is retried without any change; a negative
	// number means no limit.
	Retries int
	// Refusal is the message of the Result for a rejected password.
	Refusal string
	// Settled reports that the previous process saw the login accepted, Refused that it
	// saw this password rejected after this bootstrap.
	Settled, Refused bool
}

func (t Target) account() string { return t.hash() }

// credential includes the bootstrap run, which may have turned a rejected password into a
// valid one.
func (t Target) credential() string { return t.hash(t.Bootstrap) }

// same reports whether the targets agree in everything that a decision depends on.
func (t Target) same(other Target) bool {
	return t.credential() == other.credential() && t.Inputs == other.Inputs && t.Wait == other.Wait && t.Retries == other.Retries
}

// history records the logins at one Keystone.
type history struct {
	// first is the earliest time of the first attempt.
	first time.Time
	// account, credential and inputs are those of the last attempt, "" before the first
	// one.
	account, credential, inputs string
	at                          time.Time
	result                      Result
	// failures counts consecutive attempts that were neither rejected nor fully accepted.
	failures int
	// again is when the last attempt is repeated if nothing has changed.
	again time.Time
	// refused are the credentials that must not be tried.
	refused map[string]refusal
}

type refusal struct {
	tries int
	until time.Time
}

// due returns when to try the target; the zero time means now. It returns false if the
// passing of time alone is no reason to try.
func (h *history) due(t Target) (time.Time, bool) {
	if t.Wait || len(t.Password) == 0 {
		return time.Time{}, false
	}
	credential := t.credential()
	if refused, found := h.refused[credential]; found {
		return refused.until, t.Retries < 0 || refused.tries <= t.Retries
	}
	switch {
	case h.credential == "":
		return h.first, true
	case h.credential != credential:
		return time.Time{}, true
	case h.inputs != t.Inputs && h.again.After(h.at.Add(gap)):
		return h.at.Add(gap), true
	}
	return h.again, true
}

// adopt takes over the findings of the previous process. jitter is between 0 and 1.
func (h *history) adopt(t Target, now time.Time, jitter float64) {
	switch {
	case h.credential != "":
	case t.Refused:
		h.record(t, Result{Refused, t.Refusal}, now, jitter)
	case t.Settled:
		h.first = now.Add(time.Duration(jitter * float64(spread)))
	}
}

// record records an attempt.
func (h *history) record(t Target, result Result, now time.Time, jitter float64) {
	changed, before := h.credential != "" && h.inputs != t.Inputs, h.about(t)
	h.account, h.credential, h.inputs, h.at, h.result = t.account(), t.credential(), t.Inputs, now, result
	barred, wasRefused := h.refused[h.credential]
	var wait time.Duration
	switch result.Verdict {
	case Accepted:
		h.failures, wasRefused = 0, false
		delete(h.refused, h.credential)
		wait = period
		if changed {
			wait = settle
		}
	case Uncached:
		h.failures, wasRefused = h.failures+1, false
		delete(h.refused, h.credential)
		wait = doubled(firstUncached, period, h.failures)
	case Refused:
		h.failures, wasRefused = 0, true
		h.result.Message = t.Refusal
		barred.tries++
		wait = doubled(firstPause, lastPause, barred.tries)
	default:
		h.failures++
		wait = doubled(firstRetry, lastRetry, h.failures)
		if h.failures == 1 && before.Verdict.accepted() && result.Verdict.unanswered() {
			h.result = before
		}
	}
	h.again = now.Add(jittered(wait, jitter))
	if wasRefused {
		h.bar(refusal{tries: barred.tries, until: h.again})
	}
}

// accepted reports whether Keystone accepted the password.
func (v Verdict) accepted() bool { return v == Accepted || v == Uncached }

// unanswered reports whether there was no response to the login. A single occurrence is
// not reported, since a Service may route to a pod that is already gone.
func (v Verdict) unanswered() bool {
	return v == TimedOut || v == Unresolved || v == Unreachable || v == Broken
}

// bar keeps the credential that was tried last from being tried sooner.
func (h *history) bar(r refusal) {
	if h.refused == nil {
		h.refused = map[string]refusal{}
	}
	h.refused[h.credential] = r
}

// about returns the finding that applies to the target.
func (h *history) about(t Target) Result {
	credential := t.credential()
	_, refused := h.refused[credential]
	switch {
	case refused && (h.credential != credential || h.result.Verdict == Refused):
		return Result{Refused, t.Refusal}
	case h.credential == credential:
		return h.result
	case h.credential == "":
		return Result{}
	case h.account != t.account(), h.result.Verdict == Refused:
		return Result{Verdict: Pending}
	}
	return h.result
}

// doubled returns first for the first time, and doubles it for each further one up to
// last.
func doubled(first, last time.Duration, times int) time.Duration {
	for range times - 1 {
		if first >= last {
			return last
		}
		first *= 2
	}
	return min(first, last)
}

// jittered adds up to a fifth, so that logins that started together drift apart.
func jittered(d time.Duration, jitter float64) time.Duration {
	return d + time.Duration(jitter*float64(d/5))
}
