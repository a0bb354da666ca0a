package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestStopWaitsUntilTheLoadHasSentItsRequests(t *testing.T) {
	asked := 0
	load := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"requests": %d}`, 5*asked)
	}))
	defer load.Close()
	address := "-address=" + strings.TrimPrefix(load.URL, "http://")
	for _, c := range []struct {
		args  []string
		asked int
	}{
		{nil, 0},
		{[]string{address, "-requests=1"}, 1},
		{[]string{address, "-requests=11"}, 3},
	} {
		asked = 0
		ended := false
		if err := stop(t.Context(), c.args, func() error { ended = true; return nil }); err != nil || !ended || asked != c.asked {
			t.Errorf("%v: ended %t (%v) after %d looks, want %d", c.args, ended, err, asked, c.asked)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stop(ctx, []string{address, "-requests=1"}, func() error { t.Error("it was ended"); return nil }); err == nil {
		t.Error("a stop that is cut short reports no error")
	}
}
