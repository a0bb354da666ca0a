package operator

import (
	"errors"
	"net/http"
	"testing"
)

func TestACheckThatHasPassedIsNotRepeated(t *testing.T) {
	answers := []error{errors.New("not started"), nil}
	var asked int
	check := untilPassed(func(*http.Request) error {
		asked++
		return answers[asked-1]
	})
	for i, want := range []bool{false, true, true, true} {
		if got := check(nil) == nil; got != want {
			t.Errorf("check %d passes: %t", i+1, got)
		}
	}
	if asked != len(answers) {
		t.Errorf("the server was asked %d times, want %d", asked, len(answers))
	}
}
