package proof

import "time"

const (
	// period is how often an accepted login is repeated when nothing changes: some
	// of what it depends on, such as a cache, is not watched.
	period = time.Hour
	// settle is when an accepted login is repeated after a change. The kubelet may
	// take a minute and a half until pods have the keys that a Secret holds.
	settle = 2 * time.Minute
	// spread bounds when a restarted operator repeats the logins that its
	// predecessor saw accepted: not all at once.
	spread = 5 * time.Minute
	// gap is between two logins for changes other than of the password.
	gap = time.Second

	// A login that fails for another reason than the password is tried again soon,
	// and then less and less often.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second

	// firstUncached is when a login without the cache is repeated first. Names and
	// servers of a cache that is new take that long.
	firstUncached = 10 * time.Second

	// A refused password is left alone for firstPause, and twice as long after each
	// further try.
	firstPause = time.Hour
	lastPause  = 16 * time.Hour
)

// Target is a login that is wanted.
type Target struct {
	Account
	// Bootstrap identifies the run of bootstrap that gave Keystone the password.
	Bootstrap string
	// Inputs changes with whatever else a login depends on, such as pods and keys.
	Inputs string
	// Wait puts off all tries.
	Wait bool
	// Retries is how often a refused password is tried again merely because time
	// has passed; a negative number sets no bound.
	Retries int
	// Refusal is the message of a Result for a refused password.
	Refusal string
	// Settled tells that the process before this one saw the login accepted,
	// Refused that it saw this password refused after this bootstrap.
	Settled, Refused bool
}

func (t Target) account() string { return t.hash() }

// credential differs from the account in that a bootstrap may have made a
// refused password a right one.
func (t Target) credential() string { return t.hash(t.Bootstrap) }

// same reports whether nothing that a decision depends on differs.
func (t Target) same(other Target) bool {
	return t.credential() == other.credential() && t.Inputs == other.Inputs && t.Wait == other.Wait && t.Retries == other.Retries
}

// history is what is known of the logins at one Keystone.
type history struct {
	// first is the earliest time of the first try.
	first time.Time
	// account, credential and inputs are those of the last try, "" before it.
	account, credential, inputs string
	at                          time.Time
	result                      Result
	// failures counts the tries in a row that were neither refused nor accepted with
	// everything in order.
	failures int
	// again is when the last try is to be repeated although nothing has changed.
	again time.Time
	// refused are the credentials that must not be tried.
	refused map[string]refusal
}

type refusal struct {
	tries int
	until time.Time
}

// due returns when the target is to be tried, the zero time for at once, and
// false when time alone is no reason to try it.
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

// adopt takes over what the process before this one has found out. jitter is
// between 0 and 1.
func (h *history) adopt(t Target, now time.Time, jitter float64) {
	switch {
	case h.credential != "":
	case t.Refused:
		h.record(t, Result{Refused, t.Refusal}, now, jitter)
	case t.Settled:
		h.first = now.Add(time.Duration(jitter * float64(spread)))
	}
}

// record remembers a try.
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

// accepted reports whether Keystone took the password.
func (v Verdict) accepted() bool { return v == Accepted || v == Uncached }

// unanswered reports whether nothing of the login came back. Once is no news, since
// a Service may lead to a pod that has just gone.
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

// about returns what is known of the target.
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

// doubled is first for the first time, and twice as much for each further one
// up to last.
func doubled(first, last time.Duration, times int) time.Duration {
	for range times - 1 {
		if first >= last {
			return last
		}
		first *= 2
	}
	return min(first, last)
}

// jittered is up to a fifth longer, so that what began at once does not stay so.
func jittered(d time.Duration, jitter float64) time.Duration {
	return d + time.Duration(jitter*float64(d/5))
}
