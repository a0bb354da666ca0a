package main

import (
	"strings"
	"testing"
	"time"
)

func TestADayIsThatOfTheCalendarUnlessATestShortensIt(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "15s": 15 * time.Second, "1s": time.Second} {
		if got, err := rotationDay(value); err != nil || got != want {
			t.Errorf("rotationDay(%q) = %v, %v, want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"1", "day", "0s", "-15s", "999ms"} {
		if _, err := rotationDay(value); err == nil || !strings.Contains(err.Error(), rotationDayVariable+` is "`+value) {
			t.Errorf("rotationDay(%q) = %v, want an error that names the variable and its value", value, err)
		}
	}
}
