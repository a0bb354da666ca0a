package servingcert

import (
	"testing"
	"time"
)

func TestACertificateIsServedOnceItsTrustHasSettled(t *testing.T) {
	start := time.Now()
	first, second := issuedPair(t, time.Hour), issuedPair(t, 2*time.Hour)
	r := &Rotator{options: Options{Settle: 10 * time.Second}}
	serve := func(pair *keyPair, at time.Duration) time.Duration {
		r.now = func() time.Time { return start.Add(at) }
		return r.serveWhenSettled(t.Context(), pair)
	}

	steps := []struct {
		reason string
		pair   *keyPair
		at     time.Duration
		wait   time.Duration
		served *keyPair
	}{
		{"the first needs no wait, nobody relies on another", first, 0, 0, first},
		{"the second waits while the first is served", second, time.Minute, 10 * time.Second, first},
		{"passes in between do not start the wait again", second, time.Minute + 4*time.Second, 6 * time.Second, first},
		{"after the wait it is served", second, time.Minute + 10*time.Second, 0, second},
		{"and stays", second, 2 * time.Minute, 0, second},
	}
	for _, step := range steps {
		if wait := serve(step.pair, step.at); wait != step.wait {
			t.Errorf("%s: wait %s, want %s", step.reason, wait, step.wait)
		}
		if !step.served.same(r.served.Load()) || r.Leaf() != step.served.certificate.Leaf {
			t.Errorf("%s: another certificate is served", step.reason)
		}
	}
}

func TestAnExpiredCertificateIsReplacedAtOnce(t *testing.T) {
	r := &Rotator{options: Options{Settle: time.Hour}}
	r.served.Store(issuedPair(t, time.Minute))
	r.now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	next := issuedPair(t, time.Hour)
	if wait := r.serveWhenSettled(t.Context(), next); wait != 0 || !next.same(r.served.Load()) {
		t.Errorf("waits %s with an expired certificate, which no client accepts anyway", wait)
	}
}

func issuedPair(t *testing.T, validity time.Duration) *keyPair {
	t.Helper()
	pair, err := load(issuedSecret(t, validity, nil), testNames, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
