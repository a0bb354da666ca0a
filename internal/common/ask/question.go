// Package ask asks questions in the background, so that no reconcile pass waits for the
// network, and remembers the answers.
package ask

import (
	"context"
	"time"
)

// Verdict says what an answer is worth. Those who ask may tell apart more ways to fail.
type Verdict string

const (
	// Unproven means that nothing is known: the question has no answer yet, or none that says
	// anything.
	Unproven Verdict = ""
	// Pending means that only other questions about the subject have an answer.
	Pending Verdict = "Pending"
	// Accepted means that it is as it should be.
	Accepted Verdict = "Accepted"
	// Impaired means Accepted in spite of a failure, so that the question is asked again like
	// after a failure.
	Impaired Verdict = "Impaired"
	// Rejected means that it is not as it should be, and that asking again changes nothing.
	Rejected Verdict = "Rejected"
)

func (v Verdict) accepts() bool { return v == Accepted || v == Impaired }

// Answer is the answer to a question. It is stable: the same finding always has the same
// text.
type Answer struct {
	Verdict Verdict
	Message string
	// Err is for those who tell errors apart.
	Err error
}

// Question is a question about a subject.
type Question struct {
	// Subject is what the question is about. A resource may have several subjects, each with one
	// question at a time.
	Subject string
	// ID identifies the question, and is not empty. The answer to another question about the
	// subject counts only if it has the same Kin, which is then not empty, and is not
	// [Rejected].
	ID, Kin string
	// Inputs changes with everything else that the answer depends on.
	Inputs string
	// Hold keeps the question from being asked.
	Hold bool
	// Limit is how often the question is repeated after [Rejected] without any change; a negative
	// number means no limit.
	Limit int
	// Before is the answer that the process before this one had, if that is known. It counts
	// until there is another one.
	Before Answer
	Policy Policy
	// Ask asks. It must limit its own duration.
	Ask func(context.Context) Answer
}

// Policy says when a question is asked again.
type Policy struct {
	// Again returns how long the question is left alone after an answer. times is how many
	// answers in a row were no better: those with [Rejected] to this question, or otherwise
	// those that were not [Accepted].
	Again func(verdict Verdict, times int) time.Duration
	// Doubts reports whether an answer says nothing against an accepted one, which is then
	// kept. If the question is repeated, that is so once only. It may be nil.
	Doubts func(Answer) bool
	// Afresh lets failures after a change of the inputs count from the start.
	Afresh bool
	// Expires is how long after its answer a question is forgotten; zero means never.
	Expires time.Duration

	// Repeats has the ledger itself repeat the question, each time up to a fifth later, and
	// announce the answers that are news: those that differ from what was known before. It is
	// careful with a question whose answer is [Rejected], whatever else is asked in between.
	// Otherwise the question is only asked if it is due in a pass, and each answer is announced.
	Repeats bool
	// Gap is the minimum interval between two answers if only the inputs change. An accepted
	// answer after such a change is verified after Settle, if that is not zero.
	Gap, Settle time.Duration
	// Spread is the time over which questions that were accepted before a restart are
	// distributed.
	Spread time.Duration
}

// Doubled returns first for the first time, and twice as long for each further one, up to
// last.
func Doubled(first, last time.Duration, times int) time.Duration {
	for range times - 1 {
		if first >= last {
			return last
		}
		first *= 2
	}
	return min(first, last)
}
