package transport

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Counter records every request that passes it. Watches and leases are
// excluded: an open watch and a renewed lease are the idle state of an operator.
// The zero value is ready for use, also by several goroutines.
type Counter struct {
	mu       sync.Mutex
	seen     Requests
	watching map[string]int
}

// Snapshot is a position in the requests that a Counter has seen.
type Snapshot int

// Config returns a copy of cfg whose requests are counted.
func (c *Counter) Config(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(c.Wrap)
	return cfg
}

// Wrap is the wrapper that [rest.Config.Wrap] expects.
func (c *Counter) Wrap(next http.RoundTripper) http.RoundTripper {
	return Func(func(req *http.Request) (*http.Response, error) {
		r := Parse(req)
		resp, err := next.RoundTrip(req)
		if resp != nil {
			r.Code = resp.StatusCode
		}
		switch {
		case r.Verb == "watch" && r.Code == http.StatusOK:
			resp.Body = c.watched(r, req, resp.Body)
		case r.Verb != "watch" && !r.Lease():
			c.mu.Lock()
			c.seen = append(c.seen, r)
			c.mu.Unlock()
		}
		return resp, err
	})
}

// watched counts the watch as open until its body is closed.
func (c *Counter) watched(r Request, req *http.Request, body io.ReadCloser) io.ReadCloser {
	what := r.Resource + "." + r.Group
	if strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata") {
		what += ", metadata"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watching == nil {
		c.watching = map[string]int{}
	}
	c.watching[what]++
	return &watchBody{body, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watching[what]--
	})}
}

// Watching returns how many watches of each resource are open, with those of metadata
// counted separately.
func (c *Counter) Watching() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.watching)
}

// watchBody reports when it is closed.
type watchBody struct {
	io.ReadCloser
	closed func()
}

// Close closes the body.
func (b *watchBody) Close() error {
	b.closed()
	return b.ReadCloser.Close()
}

// Snapshot returns the position after the last request that was answered.
func (c *Counter) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Snapshot(len(c.seen))
}

// Since returns the requests that were answered after the snapshot.
func (c *Counter) Since(s Snapshot) Requests {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(Requests(nil), c.seen[s:]...)
}

// All returns every request seen so far.
func (c *Counter) All() Requests { return c.Since(0) }

// Requests is a list of requests in the order in which they were answered.
type Requests []Request

// Filter returns the requests for which keep returns true.
func (rs Requests) Filter(keep func(Request) bool) Requests {
	var out Requests
	for _, r := range rs {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

// Writes returns the requests that change objects, except Events.
func (rs Requests) Writes() Requests {
	return rs.Filter(func(r Request) bool { return r.Write() && !r.Event() })
}

// Needed leaves out what depends on how soon a watch tells of a child: a pass that does not
// know it yet applies it as a new one, is refused, and looks at it.
func (rs Requests) Needed() Requests {
	type object struct{ group, resource, namespace, name string }
	refused := map[object]int{}
	return rs.Filter(func(r Request) bool {
		of := object{r.Group, r.Resource, r.Namespace, r.Name}
		switch {
		case r.Verb == "apply" && r.Code == http.StatusConflict:
			refused[of]++
			return false
		case r.Verb == "get" && refused[of] > 0:
			refused[of]--
			return false
		default:
			return true
		}
	})
}

// Events returns the writes of Events.
func (rs Requests) Events() Requests {
	return rs.Filter(func(r Request) bool { return r.Write() && r.Event() })
}

// String returns one request per line, for failure messages.
func (rs Requests) String() string {
	lines := make([]string, len(rs))
	for i, r := range rs {
		lines[i] = r.String()
	}
	return strings.Join(lines, "\n")
}

// Func lets a function be an [http.RoundTripper].
type Func func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f Func) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
