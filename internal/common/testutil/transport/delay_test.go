package transport

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func delayedClient(t *testing.T, longest time.Duration, answer string) (*http.Client, string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, piece := range strings.SplitAfter(answer, " ") {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	cfg := &rest.Config{Host: s.URL}
	Delay(cfg, longest)
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, s.URL
}

func TestADelayedResponseArrivesComplete(t *testing.T) {
	const events = "added modified deleted"
	c, url := delayedClient(t, time.Millisecond, events)
	for range 50 {
		resp, err := c.Get(url + "/api/v1/secrets?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if string(got) != events || err != nil {
			t.Fatalf("got %q (%v), expected %q", got, err, events)
		}
	}
}

func TestADelayEndsWhenItsRequestIsCancelled(t *testing.T) {
	c, url := delayedClient(t, 1000*time.Hour, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := c.Do(req); err == nil {
			t.Errorf("answered with %s (%v)", resp.Status, resp.Body.Close())
		}
	}
}
