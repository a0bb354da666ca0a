package main

import (
	"context"
	"net/http"
	"testing"
	"time"
)

func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestAKeptConnectionCarriesAllRequests(t *testing.T) {
	server := newFakeKeystone(t, nil)
	c := &client{address: server.address(), keepAlive: true, timeout: time.Minute}
	u := server.user(t)
	for turn := range 5 {
		if err := u.version(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		if c.reused != (turn > 0) {
			t.Errorf("request %d: reused is %v", turn, c.reused)
		}
	}
	if got := server.connections.Load(); got != 1 || c.dialed != 1 {
		t.Errorf("%d connections at the server, %d dialed, want 1", got, c.dialed)
	}
}

func TestAFreshConnectionCarriesOneRequest(t *testing.T) {
	server := newFakeKeystone(t, nil)
	c := &client{address: server.address(), timeout: time.Minute}
	u := server.user(t)
	for range 3 {
		if err := u.version(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	if got := server.connections.Load(); got != 3 {
		t.Errorf("%d connections, want 3", got)
	}
}

func TestAConnectionCloseHeaderIsHonoured(t *testing.T) {
	server := newFakeKeystone(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Connection", "close")
		return false
	})
	c := &client{address: server.address(), keepAlive: true, timeout: time.Minute}
	if err := server.user(t).version(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if c.conn != nil {
		t.Error("the connection is kept although the server announced its end")
	}
}

func TestAConnectionThatTheServerClosedWhileIdleIsNotUsed(t *testing.T) {
	server := newFakeKeystone(t, nil)
	c := &client{address: server.address(), keepAlive: true, timeout: time.Minute}
	u := server.user(t)
	if err := u.version(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	server.closeIdle()
	// The end of the connection has arrived when a read returns.
	if n, err := c.conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	if err := u.version(context.Background(), c); err != nil {
		t.Errorf("a request after the server closed the idle connection: %v", err)
	}
	if c.reused || c.dialed != 2 {
		t.Errorf("reused is %v, %d connections dialed", c.reused, c.dialed)
	}
}

func TestARequestThatFailsIsNotSentAgain(t *testing.T) {
	var broken bool
	server := newFakeKeystone(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if broken {
			hangUp(w)
		}
		return broken
	})
	c := &client{address: server.address(), keepAlive: true, timeout: time.Minute}
	u := server.user(t)
	if err := u.version(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	broken = true
	// The standard library's transport would repeat this one: a GET on a
	// connection that has been used before.
	err := u.version(context.Background(), c)
	if kind := classify(err); err == nil || kind != "connection closed" {
		t.Errorf("%v, classified as %q", err, kind)
	}
	if got := server.requests.Load(); got != 2 {
		t.Errorf("the server saw %d requests, want 2", got)
	}
}

func TestRequestFailuresAreClassified(t *testing.T) {
	hanging := newFakeKeystone(t, func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	failing := newFakeKeystone(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	lying := newFakeKeystone(t, func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = w.Write([]byte("{}"))
		return true
	})
	for want, c := range map[string]*client{
		// Any other port may be in use by then.
		"connection refused": {address: "127.0.0.1:1", timeout: time.Minute},
		"timeout":            {address: hanging.address(), timeout: 50 * time.Millisecond},
		"HTTP 500":           {address: failing.address(), timeout: time.Minute},
		"wrong answer: no description of version 3": {address: lying.address(), timeout: time.Minute},
		"name not resolved":                         {address: "no-such-host.invalid:80", timeout: time.Minute},
	} {
		if err := failing.user(t).version(context.Background(), c); classify(err) != want {
			t.Errorf("%v is classified as %q, want %q", err, classify(err), want)
		}
	}
}
