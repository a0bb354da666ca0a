package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestAServiceIsAskedWithTheNewestToken(t *testing.T) {
	server := newFakeKeystone(t, nil)
	var asked, refused atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		server.mu.Lock()
		defer server.mu.Unlock()
		// Another worker may have logged in meanwhile.
		if newest := server.issued[max(0, len(server.issued)-3):]; r.URL.Path != "/things" ||
			!strings.Contains(strings.Join(newest, "\n"), r.Header.Get("X-Auth-Token")) {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(service.Close)
	r, err := runUntil(t, server, func() bool { return asked.Load() >= 200 }, "-service", service.URL+"/things")
	if err != nil || r.Failures != 0 || refused.Load() != 0 {
		t.Errorf("%d requests failed, %d were refused: %v", r.Failures, refused.Load(), err)
	}
	if r.Kinds[kindService].Requests < 150 || len(r.Kinds) != 2 {
		t.Errorf("the kinds of requests are %v", r.Kinds)
	}
}

func TestAServiceThatRefusesTokensIsAFailure(t *testing.T) {
	server := newFakeKeystone(t, nil)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(service.Close)
	r, err := runUntil(t, server, func() bool { return server.requests.Load() >= 20 }, "-service", service.URL+"/things")
	if err == nil || r.Failures == 0 {
		t.Errorf("the result is %+v, %v", r, err)
	}
}
