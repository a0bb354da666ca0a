package transport

import (
	"io"
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// Holds delays the events of chosen watches of a client for as long as a test
// wants: the caches behind them fall behind the API server and behind the client's
// other caches. The zero value delays nothing.
type Holds struct {
	mu   sync.Mutex
	held []*hold
}

type hold struct {
	matches  func(*http.Request) bool
	released chan struct{}
}

// Hold delays the events of the matching watches until the returned function is
// called, which may be called more than once.
func (h *Holds) Hold(matches func(watch *http.Request) bool) (release func()) {
	added := &hold{matches, make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, added)
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.held = slices.DeleteFunc(h.held, func(other *hold) bool { return other == added })
		close(added.released)
	})
}

// Config returns a copy of cfg whose watches may be held.
func (h *Holds) Config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(h.Wrap)
	return cfg
}

// Wrap is the wrapper that [rest.Config.Wrap] expects.
func (h *Holds) Wrap(next http.RoundTripper) http.RoundTripper {
	return Func(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil && Parse(req).Verb == "watch" {
			resp.Body = &heldBody{resp.Body, req, h}
		}
		return resp, err
	})
}

// of returns a hold that delays the events of the watch, nil if there is none.
func (h *Holds) of(watch *http.Request) *hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.held, func(one *hold) bool { return one.matches(watch) })
	if i < 0 {
		return nil
	}
	return h.held[i]
}

// heldBody is a response body that waits for its holds.
type heldBody struct {
	io.ReadCloser
	watch *http.Request
	holds *Holds
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for one := b.holds.of(b.watch); one != nil; one = b.holds.of(b.watch) {
		select {
		case <-b.watch.Context().Done():
			return n, err
		case <-one.released:
		}
	}
	return n, err
}
