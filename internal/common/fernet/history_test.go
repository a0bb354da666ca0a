package fernet

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

const propagation = 2 * time.Minute

func use(lifetime time.Duration) Use { return Use{Lifetime: lifetime, Propagation: propagation} }

// tenures returns the Tenures of a set by the names of its keys.
func tenures(h History, data map[string][]byte) map[string]Tenure {
	named := map[string]Tenure{}
	for name, key := range data {
		named[name] = h[ID(key)]
	}
	return named
}

func TestTheFirstRotationIsNeverHeld(t *testing.T) {
	current := generate(t, 3)
	history := NewHistory(current, noon, 0).Observe(current, noon.Add(time.Minute), use(time.Hour))
	next := rotate(current, 3, generate(t, 1)["0"])
	if at := history.SafeAt(current, next, use(48*time.Hour)); !at.IsZero() {
		t.Errorf("it is held until %s", at)
	}
}

func TestTheSecondRotationWaitsForPropagationAndTokenExpiry(t *testing.T) {
	first := generate(t, 3)
	second := rotate(first, 4, generate(t, 1)["0"])
	history := NewHistory(first, noon, 0).Observe(second, noon.Add(time.Hour), use(time.Hour))
	for name, test := range map[string]struct {
		maxActive int
		want      time.Time
	}{
		"dropping nothing":                 {5, noon.Add(time.Hour + propagation)},
		"dropping one that was never used": {4, noon.Add(time.Hour + propagation)},
		"dropping the former primary key":  {3, noon.Add(time.Hour + propagation + 2*time.Hour)},
	} {
		third := rotate(second, test.maxActive, generate(t, 1)["0"])
		if got := history.SafeAt(second, third, use(2*time.Hour)); !got.Equal(test.want) {
			t.Errorf("%s: safe at %s, want %s", name, got, test.want)
		}
	}
}

func TestAShorterLifetimeDoesNotShortenThatOfExistingTokens(t *testing.T) {
	first := generate(t, 3)
	second := rotate(first, 3, generate(t, 1)["0"])
	third := rotate(second, 3, generate(t, 1)["0"])
	history := NewHistory(first, noon, 0).Observe(first, noon, use(10*time.Hour)).Observe(first, noon, use(time.Hour)).
		Observe(second, noon.Add(time.Hour), use(time.Hour))
	want := noon.Add(time.Hour + propagation + 10*time.Hour)
	if got := history.SafeAt(second, third, use(time.Hour)); !got.Equal(want) {
		t.Errorf("safe at %s, want %s", got, want)
	}
}

func TestKeysMissingFromTheHistoryCountAsUsedUntilNow(t *testing.T) {
	data := generate(t, 4)
	for _, text := range []string{"", "garbage", "[]", `{"x":1}`, `{"abc":{"since":"yesterday"}}`} {
		got := tenures(ParseHistory(text).Observe(data, noon, use(time.Hour)), data)
		want := map[string]Tenure{
			"0": {}, "1": {Until: noon, Lifetime: 3600}, "2": {Until: noon, Lifetime: 3600}, "3": {Since: noon, Lifetime: 3600},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("history %q (-want +got):\n%s", text, diff)
		}
	}
}

func TestAHistoryRoundTripsAndIsStableWithoutARotation(t *testing.T) {
	first := generate(t, 3)
	second := rotate(first, 3, generate(t, 1)["0"])
	history := NewHistory(first, noon, 0).Observe(first, noon, use(time.Hour)).Observe(second, noon.Add(time.Hour), use(time.Hour))
	text := history.String()
	if again := ParseHistory(text).Observe(second, noon.Add(20*time.Hour), use(time.Hour)).String(); again != text {
		t.Errorf("it became %s, was %s", again, text)
	}
	for _, key := range second {
		if strings.Contains(text, string(key)) || strings.Contains(string(key), ID(key)) {
			t.Error("the history shows a key")
		}
	}
}

func TestACredentialMigrationIsRecordedForThePrimaryKeyOnly(t *testing.T) {
	first := generate(t, 3)
	second := rotate(first, 3, generate(t, 1)["0"])
	history := NewHistory(first, noon, 0).Observe(first, noon, use(0)).Migrated(first)
	if !history.Primary(first).Migrated || history.Rotated() {
		t.Errorf("history %s, want the primary key migrated and nothing rotated", history)
	}
	history = history.Observe(second, noon.Add(time.Hour), use(0))
	if history.Primary(second).Migrated || !history.Rotated() {
		t.Errorf("history %s, want a rotation and the new primary key not migrated", history)
	}
}

// A clock that was wrong when a key was promoted leaves a time in the future. Such
// a time continues to hold rotations, because it cannot be distinguished from a
// clock that is wrong now.
func TestAFutureTimestampHoldsRotationsUntilItHasPassed(t *testing.T) {
	first := generate(t, 3)
	second := rotate(first, 3, generate(t, 1)["0"])
	third := rotate(second, 3, generate(t, 1)["0"])
	ahead := noon.Add(1000 * time.Hour)
	history := NewHistory(first, noon, 0).Observe(second, ahead, use(time.Hour)).Observe(second, noon, use(time.Hour))
	if got, want := history.SafeAt(second, third, use(time.Hour)), ahead.Add(propagation+time.Hour); !got.Equal(want) {
		t.Errorf("safe at %s, want %s", got, want)
	}
}

func TestAFutureTimestampDoesNotHoldKeysWithoutALifetime(t *testing.T) {
	first := generate(t, 3)
	second := rotate(first, 3, generate(t, 1)["0"])
	third := rotate(second, 3, generate(t, 1)["0"])
	ahead := noon.Add(10 * 365 * 24 * time.Hour)
	history := NewHistory(first, noon, 0).Observe(second, ahead, use(0)).Migrated(second).Observe(second, noon, use(0))
	if got, want := history.SafeAt(second, third, use(0)), noon.Add(propagation); !got.Equal(want) {
		t.Errorf("safe at %s, want %s", got, want)
	}
	if !history.Primary(second).Migrated {
		t.Error("the migration was forgotten")
	}
	if again := history.Observe(second, noon.Add(time.Hour), use(0)); again.String() != history.String() {
		t.Errorf("it became %s, was %s", again, history)
	}
}
