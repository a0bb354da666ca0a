package proof

import (
	"context"
	"time"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/probe"
)

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

// policy never locks the account, whatever is asked for.
var policy = ask.Policy{Again: again, Doubts: unanswered, Repeats: true, Gap: gap, Settle: settle, Spread: spread}

func again(verdict ask.Verdict, times int) time.Duration {
	switch verdict {
	case ask.Accepted:
		return period
	case Uncached:
		return ask.Doubled(firstUncached, period, times)
	case ask.Rejected:
		return ask.Doubled(firstPause, lastPause, times)
	}
	return ask.Doubled(firstRetry, lastRetry, times)
}

// unanswered reports whether there was no response to the login. A single occurrence is
// not reported, since a Service may route to a pod that is already gone.
func unanswered(answer ask.Answer) bool {
	switch answer.Verdict {
	case probe.TimedOut, probe.Unresolved, probe.Unreachable, probe.Broken:
		return true
	}
	return false
}

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
	// Refusal is the message of the answer for a rejected password.
	Refusal string
	// Before is what the previous process saw: [ask.Accepted] for this login, or
	// [ask.Rejected] for this password after this bootstrap.
	Before ask.Verdict
}

// question is the login as a question. Its ID includes the bootstrap run, which may have
// turned a rejected password into a valid one.
func (t Target) question(client probe.Doer) ask.Question {
	return ask.Question{
		ID: t.hash(t.Bootstrap), Kin: t.hash(), Inputs: t.Inputs, Hold: t.Wait || len(t.Password) == 0, Limit: t.Retries,
		Before: t.explained(ask.Answer{Verdict: t.Before}), Policy: policy,
		Ask: func(ctx context.Context) ask.Answer { return t.explained(t.logIn(ctx, client)) },
	}
}

// explained returns the answer with the message for a rejected password.
func (t Target) explained(answer ask.Answer) ask.Answer {
	if answer.Verdict == ask.Rejected {
		answer.Message = t.Refusal
	}
	return answer
}
