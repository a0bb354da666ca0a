package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tooMany is the number of requests after which a run is stopped if the awaited
// event has not happened.
const tooMany = 50_000

// runUntil runs the generator until the server has seen enough.
func runUntil(t *testing.T, server *fakeKeystone, enough func() bool, arguments ...string) (result, error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	handler := server.Config.Handler
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		server.mu.Lock()
		defer server.mu.Unlock()
		if enough() || server.requests.Load() >= tooMany {
			stop()
		}
	})
	path := filepath.Join(t.TempDir(), "result")
	var stdout bytes.Buffer
	err := run(ctx, append([]string{
		"-url", server.URL + "/v3", "-password-file", passwordFile(t, testPassword),
		"-rate", "2000", "-workers", "4", "-result", path,
	}, arguments...), &stdout)
	text, readErr := os.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if stdout.String() != string(text)+"\n" {
		t.Errorf("standard output and the result's file differ:\n%s%s", stdout.String(), text)
	}
	if strings.Contains(stdout.String(), testPassword) {
		t.Error("the result contains the password")
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r, err
}

func TestARunCanSendOneKindOfRequestWithoutRateLimit(t *testing.T) {
	for _, only := range []string{kindIssue, kindVersion, kindValidate} {
		server := newFakeKeystone(t, nil)
		r, err := runUntil(t, server, func() bool { return server.requests.Load() >= 200 }, "-rate", "0", "-only", only)
		if err != nil {
			t.Fatal(err)
		}
		// The first login is needed for any other.
		for kind, counts := range r.Kinds {
			if kind != only && (kind != kindIssue || counts.Requests != 1) {
				t.Errorf("%d requests of kind %s beside those of %s", counts.Requests, kind, only)
			}
		}
		if r.Kinds[only].Requests < 199 || r.PerSecond == 0 && r.Seconds > 0 {
			t.Errorf("%s: got %+v", only, r)
		}
	}
}

func TestInvalidLoadOptionsAreRefused(t *testing.T) {
	for _, arguments := range [][]string{{"-rate", "-1"}, {"-workers", "0"}, {"-only", "revoke"}} {
		if _, err := parse(arguments); err == nil || !strings.Contains(err.Error(), arguments[0]) {
			t.Errorf("%v: got error %v", arguments, err)
		}
	}
}

func TestARunUsesEveryKindOfRequestOnBothKindsOfConnections(t *testing.T) {
	server := newFakeKeystone(t, nil)
	// Which worker takes a request depends on which one is free.
	r, err := runUntil(t, server, func() bool {
		return server.requests.Load() >= 200 && server.fresh >= 50 && len(server.kept) == 2
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(r.Requests) != server.requests.Load() || r.Requests < 200 || r.Failures != 0 {
		t.Errorf("%d requests, %d failures, the server saw %d", r.Requests, r.Failures, server.requests.Load())
	}
	for _, kind := range []string{kindIssue, kindVersion, kindValidate} {
		if r.Kinds[kind].Requests == 0 {
			t.Errorf("no request of kind %s", kind)
		}
	}
	if fresh := server.connections.Load() - int64(r.Connections); r.Connections != 2 || fresh < 50 || fresh != server.fresh {
		t.Errorf("%d connections were kept, want 2; %d were fresh, want one for each of %d requests", r.Connections, fresh, server.fresh)
	}
}

func TestTheOldestAndTheNewestTokenAreValidatedToTheEnd(t *testing.T) {
	server := newFakeKeystone(t, nil)
	// Workers overtake each other, so that not every token is the newest for long.
	_, err := runUntil(t, server, func() bool { return len(server.issued) > 10 && len(server.validated) > 5 })
	if err != nil {
		t.Fatal(err)
	}
	if got := server.validated[server.issued[0]]; got < 20 {
		t.Errorf("the oldest token was validated %d times", got)
	}
	if newer := len(server.validated) - 1; newer < 5 {
		t.Errorf("of %d newer tokens %d were validated", len(server.issued)-1, newer)
	}
}

func TestARunWithAFailedRequestFails(t *testing.T) {
	var seen atomic.Int64
	server := newFakeKeystone(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || seen.Add(1) != 20 {
			return false
		}
		hangUp(w)
		return true
	})
	r, err := runUntil(t, server, func() bool { return server.requests.Load() >= 100 })
	if err == nil || !strings.Contains(err.Error(), "1 of ") {
		t.Errorf("the error is %v", err)
	}
	if r.Failures != 1 || len(r.Errors) != 1 {
		t.Errorf("%d failures, errors %q", r.Failures, r.Errors)
	}
}

func TestARunThatCannotLogInEndsAtOnce(t *testing.T) {
	server := newFakeKeystone(t, nil)
	var stdout bytes.Buffer
	err := run(t.Context(), []string{"-url", server.URL + "/v3", "-password-file", passwordFile(t, "wrong")}, &stdout)
	if err == nil || !strings.Contains(stdout.String(), "HTTP 401") {
		t.Errorf("%v, %s", err, stdout.String())
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"-url", "keystone"},
		{"-url", "https://keystone/v3"},
		{"-url", "http://k:1/v3", "-rate", "0"},
		{"-url", "http://k:1/v3", "-service", "placement"},
	} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q were accepted", args)
		}
	}
}

func TestTheLoadIsReadyOnceEveryKindOfRequestHasSucceeded(t *testing.T) {
	l := newLoad(options{workers: 1}, &url.URL{Host: "keystone:5000"}, nil)
	ask := func() int {
		response := httptest.NewRecorder()
		l.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		return response.Code
	}
	now := time.Now()
	l.recorder.add(kindIssue, now, time.Millisecond, false, nil)
	l.recorder.add(kindVersion, now, time.Millisecond, false, nil)
	l.recorder.add(kindValidate, now, time.Millisecond, false, &statusError{status: 500})
	if code := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("status %d while no validation has succeeded", code)
	}
	l.recorder.add(kindValidate, now, time.Millisecond, false, nil)
	if code := ask(); code != http.StatusOK {
		t.Errorf("status %d when every kind has succeeded", code)
	}
}

func TestAResultCountsFailuresByKindAndLatenciesByPercentile(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := newRecorder(start)
	for i := range 100 {
		r.add(kindVersion, start, time.Duration(i+1)*time.Millisecond, false, nil)
	}
	r.add(kindIssue, start, time.Second, true, &statusError{status: 503})
	want := result{
		Seconds: 10, Requests: 101, PerSecond: 10.1, Failures: 1, Connections: 4,
		Kinds: map[string]counts{
			kindVersion: {Requests: 100, P50: 50, P95: 95, P99: 99, Max: 100},
			kindIssue:   {Requests: 1, Failures: map[string]int{"HTTP 503": 1}, P50: 1000, P95: 1000, P99: 1000, Max: 1000},
		},
		Errors: []string{"03:04:05.000 issue on a kept connection: HTTP 503"},
	}
	if diff := cmp.Diff(want, r.result(start.Add(10*time.Second), 4)); diff != "" {
		t.Error(diff)
	}
}

func TestFailingSecondsAreMeasuredBySendTime(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := newRecorder(started)
	for _, sent := range []struct {
		after time.Duration
		err   error
	}{
		{time.Second, nil},
		// A request that times out is recorded after one that was sent later.
		{3 * time.Second, errWrongAnswer},
		{2 * time.Second, os.ErrDeadlineExceeded},
		{6500 * time.Millisecond, errWrongAnswer},
		{9 * time.Second, nil},
	} {
		r.add(kindVersion, started.Add(sent.after), time.Second, false, sent.err)
	}
	if got := r.result(started.Add(time.Minute), 0).FailingSeconds; got != 4.5 {
		t.Errorf("requests failed for %v seconds, want 4.5", got)
	}
	if got := newRecorder(started).result(started, 0).FailingSeconds; got != 0 {
		t.Errorf("without a failure, requests failed for %v seconds", got)
	}
}
