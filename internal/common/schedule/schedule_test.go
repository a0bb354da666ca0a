package schedule

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

func TestValidateAcceptsWhatACronJobAccepts(t *testing.T) {
	for _, expr := range []string{
		"0 0 * * 0", "0 * * * *", "*/5 * * * *", "0 0 1 * *", "15,45 2-6/2 * JAN-MAR mon", "0 0 ? * ?",
		"@daily", "@every 1h30m", "  0 0 * * 0  ", "0 0 30 2 *",
	} {
		if err := Validate(expr); err != nil {
			t.Errorf("%q: %v", expr, err)
		}
	}
}

func TestValidateRefusesWhatACronJobRefuses(t *testing.T) {
	for _, expr := range []string{
		"", " ", "not a schedule", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
		"* * * * 8", "*/0 * * * *", "5-1 * * * *", "-1 * * * *", "@fortnightly", "@every soon",
		"TZ=UTC 0 0 * * *", "CRON_TZ=Europe/Berlin 0 0 * * *", "TZ=UTC", "CRON_TZ=",
	} {
		err := Validate(expr)
		if err == nil {
			t.Errorf("%q: expected an error", expr)
			continue
		}
		if !strings.HasPrefix(err.Error(), "invalid cron expression: ") {
			t.Errorf("%q: got error %q, expected it to begin with 'invalid cron expression: '", expr, err)
		}
	}
}

func TestMinIntervalIsTheShortestGap(t *testing.T) {
	const day = 24 * time.Hour
	tests := map[string]time.Duration{
		"* * * * *":         time.Minute,
		"*/7 * * * *":       4 * time.Minute, // from minute 56 to the next hour
		"0 * * * *":         time.Hour,
		"0,10,25 * * * *":   10 * time.Minute,
		"50 23,0 * * *":     time.Hour, // across midnight
		"0 0 * * *":         day,
		"0 0,22 * * *":      2 * time.Hour,
		"0 0,20 * * 1":      20 * time.Hour,
		"0 0 * * 0":         7 * day,
		"0 0 * * 1,4":       3 * day,
		"0 0 1 * *":         28 * day,
		"0 0 1,15 * *":      14 * day,
		"0 0 31 * *":        31 * day,
		"0 0 30 * *":        30 * day,
		"0 0 */10 * *":      day, // 31st, then 1st
		"0 0 1 1 *":         365 * day,
		"0 0 29 2 *":        1461 * day,
		"0 0 13 * 5":        day, // the day of the month or the weekday
		"0 0 29 2 1":        day,
		"0 0 31 12 *":       365 * day,
		"30 12 28-31 2,3 *": day,
		"@monthly":          28 * day,
		"@yearly":           365 * day,
		"@every 90s":        90 * time.Second,
		"@every 1ms":        time.Second,
	}
	for expr, want := range tests {
		t.Run(expr, func(t *testing.T) {
			got, err := MinInterval(expr)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("got %s, expected %s", got, want)
			}
		})
	}
}

func TestMinIntervalOfAnImpossibleDateIsAnError(t *testing.T) {
	for _, expr := range []string{"0 0 30 2 *", "0 0 31 4,6 *", ", * * * *"} {
		if got, err := MinInterval(expr); !errors.Is(err, ErrNeverActivates) {
			t.Errorf("%q: got %s and error %v, expected %v", expr, got, err, ErrNeverActivates)
		}
	}
}

func TestMinIntervalRefusesWhatValidateRefuses(t *testing.T) {
	for _, expr := range []string{"", "TZ=UTC", "nonsense"} {
		_, got := MinInterval(expr)
		want := Validate(expr)
		if got == nil || want == nil || got.Error() != want.Error() {
			t.Errorf("%q: got error %v, expected %v", expr, got, want)
		}
	}
}

// TestMinIntervalAgreesWithCountingEveryActivation walks a whole leap cycle
// activation by activation, which is exact and far too slow for admission.
func TestMinIntervalAgreesWithCountingEveryActivation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 80 {
		expr := randomExpression(random)
		parsed, err := cron.ParseStandard(expr)
		if err != nil {
			t.Fatal(err)
		}
		want := time.Duration(1<<63 - 1)
		previous := parsed.Next(windowStart.Add(-time.Second))
		for previous.Before(windowStart.Add(calendarCycle)) {
			next := parsed.Next(previous)
			want = min(want, next.Sub(previous))
			previous = next
		}
		got, err := MinInterval(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q: got %s, expected %s", expr, got, want)
		}
	}
}

// randomExpression returns an expression with at most four activations per day, on
// one of a few sets of days, so that counting them is quick.
func randomExpression(random *rand.Rand) string {
	list := func(low, high, most int) string {
		words := make([]string, 1+random.IntN(most))
		for i := range words {
			words[i] = strconv.Itoa(low + random.IntN(high-low+1))
		}
		return strings.Join(words, ",")
	}
	fields := []string{list(0, 59, 2), list(0, 23, 2), "*", "*", "*"}
	switch random.IntN(4) {
	case 0:
		fields[2] = list(1, 28, 3)
	case 1:
		fields[4] = list(0, 6, 3)
	case 2:
		fields[3], fields[4] = list(1, 12, 3), list(0, 6, 3)
	default:
		fields[2], fields[3], fields[4] = list(1, 31, 2), list(1, 12, 3), list(0, 6, 1)
	}
	return strings.Join(fields, " ")
}

func FuzzMinInterval(f *testing.F) {
	for _, expr := range []string{
		"0 0 * * 0", "*/7 2-6/2 1,15 JAN-MAR mon", "@every 1h30m", "@every -1s", "@weekly", "0 0 30 2 *", ", , , , ,",
		"TZ=UTC", "TZ= * * * * *", "? ? ? ? ?", "59/1 23/9 31/3 12/7 6/2", "*/9223372036854775807 * * * *",
	} {
		f.Add(expr)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		got, err := MinInterval(expr)
		switch {
		case errors.Is(err, ErrNeverActivates):
			return
		case (err == nil) != (Validate(expr) == nil):
			t.Fatalf("got error %v, but validation says %v", err, Validate(expr))
		case err != nil:
			return
		}
		if got < time.Second {
			t.Fatalf("got %s, expected at least a second", got)
		}
		parsed, err := cron.ParseStandard(expr)
		if err != nil {
			t.Fatal(err)
		}
		// Any observed interval is an upper bound.
		at := time.Date(2027, time.December, 30, 0, 0, 0, 0, time.UTC)
		for range 50 {
			from := parsed.Next(at)
			to := parsed.Next(from)
			if from.IsZero() || to.IsZero() {
				return
			}
			if to.Sub(from) < got {
				t.Fatalf("got %s, but %s and %s are closer", got, from, to)
			}
			at = from
		}
	})
}

func BenchmarkMinInterval(b *testing.B) {
	for _, expr := range []string{"0 0 * * 0", "*/2 * * * *", "0 0 1 * *", "0 0 29 2 *", ", * * * *"} {
		b.Run(expr, func(b *testing.B) {
			for b.Loop() {
				_, _ = MinInterval(expr)
			}
		})
	}
}

func TestNextIsTheFirstActivationAfterATime(t *testing.T) {
	sunday := time.Date(2026, time.June, 7, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		expr        string
		after, want time.Time
	}{
		{"0 0 * * 0", sunday.Add(-time.Second), sunday},
		{"0 0 * * 0", sunday, sunday.AddDate(0, 0, 7)},
		// The given time need not be an activation.
		{"0 0 * * 0,1", sunday.Add(time.Hour), sunday.AddDate(0, 0, 1)},
		{"@every 2h", sunday, sunday.Add(2 * time.Hour)},
	} {
		if got, err := Next(c.expr, c.after); err != nil || !got.Equal(c.want) {
			t.Errorf("%q after %s: got %s, %v, want %s", c.expr, c.after, got, err, c.want)
		}
	}
	if _, err := Next("0 0 30 2 *", sunday); !errors.Is(err, ErrNeverActivates) {
		t.Errorf("30 February: %v", err)
	}
	if _, err := Next("* * * *", sunday); err == nil || !strings.HasPrefix(err.Error(), "invalid cron expression: ") {
		t.Errorf("four fields: %v", err)
	}
}
