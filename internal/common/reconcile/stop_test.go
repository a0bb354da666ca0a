package reconcile

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/c5c3/forge/internal/common/apply"
)

func TestAStepErrorDeterminesItsOutcome(t *testing.T) {
	cause := errors.New("cause")
	foreign := fmt.Errorf("%w: Secret a", apply.ErrNotOwned)
	for name, test := range map[string]struct {
		err  error
		want Outcome
	}{
		"a wait":                        {WaitError("Wait", "later").After(time.Minute), Waiting("Wait", "later").After(time.Minute)},
		"a wait with the step's reason": {WaitError("", "later"), Waiting("Step", "later")},
		"a wait in another error": {
			fmt.Errorf("a: %w", WaitError("Wait", "later").After(time.Hour).Within(time.Minute)), Waiting("Wait", "a: later").After(time.Minute),
		},
		"an error that lasts":             {TerminalError("Wrong", cause), Terminal("Wrong", cause)},
		"a transient error":               {cause, Failed("Step", cause)},
		"a transient error with a reason": {WithReason("Read", cause), Failed("Read", cause)},
		"a refused write with a reason":   {WithReason("Write", foreign), Terminal("Write", foreign).After(ObstructionPeriod)},
		"the first of two reasons":        {WithReason("Outer", WaitError("Inner", "later")), Waiting("Inner", "later")},
	} {
		for door, got := range map[string]Outcome{"Failed": Failed("Step", test.err), "WriteFailed": WriteFailed("Step", test.err)} {
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
				t.Errorf("%s, by %s: got %+v, want %+v", name, door, got, test.want)
			}
		}
	}
	if err := WithReason("Read", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestATerminalErrorWrapsItsCause(t *testing.T) {
	cause := errors.New("cause")
	for _, err := range []error{TerminalError("Wrong", cause).After(time.Minute), WithReason("Read", cause)} {
		if !errors.Is(err, cause) || !errors.Is(Failed("Step", err).Err(), cause) {
			t.Errorf("%v has lost its cause", err)
		}
	}
	if !IsWait(fmt.Errorf("a: %w", WaitError("", "later"))) || IsWait(TerminalError("", cause)) || IsWait(cause) {
		t.Error("only a wait is one")
	}
}
