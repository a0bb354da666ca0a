package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// reported is the version that the store reports, so that it is not mistaken for
// OpenBao.
const reported = "0.0.0-stand-in"

func (s *Server) sealStatus(*request) (any, error) {
	keys := s.state().Keys
	s.mu.Lock()
	defer s.mu.Unlock()
	return object{
		"type": "shamir", "initialized": keys.Shares > 0, "sealed": s.sealed, "t": keys.Threshold, "n": keys.Shares,
		"progress": len(s.entered), "version": reported,
	}, nil
}

// initialise generates the keys of a store that has none. The store is sealed
// afterwards, as OpenBao is.
func (s *Server) initialise(q *request) (any, error) {
	var body struct {
		Shares    int `json:"secret_shares"`
		Threshold int `json:"secret_threshold"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	if body.Shares < 1 || body.Threshold < 1 || body.Threshold > body.Shares {
		return nil, fail(http.StatusBadRequest, "secret_threshold must be between 1 and secret_shares")
	}
	keys := newKeys(body.Shares, body.Threshold)
	err := s.kept.change(func(c *state) error {
		if c.Keys.Shares > 0 {
			return fail(http.StatusBadRequest, "OpenBao is already initialized")
		}
		c.Keys = keys
		return nil
	})
	return object{"keys": keys.KeysHex, "keys_base64": keys.UnsealKeys, "root_token": keys.RootToken}, err
}

// unseal accepts one unseal key. Enough different ones unseal the store.
func (s *Server) unseal(q *request) (any, error) {
	var body struct {
		Key string `json:"key"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	keys := s.state().Keys
	if !slices.Contains(keys.UnsealKeys, body.Key) {
		return nil, fail(http.StatusBadRequest, "this is not one of the keys")
	}
	s.mu.Lock()
	if s.entered[body.Key] = true; !s.sealed || len(s.entered) >= keys.Threshold {
		s.sealed = false
		clear(s.entered)
	}
	s.mu.Unlock()
	return s.sealStatus(q)
}

// lock seals the store.
func (s *Server) lock(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	clear(s.entered)
	return nil, nil
}

// empty removes every secret whose path starts with a prefix. Only tests send this request,
// and the next.
func (s *Server) empty(q *request) (any, error) {
	var body struct {
		Prefix string `json:"prefix"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	return nil, s.kept.change(func(c *state) error {
		maps.DeleteFunc(c.Secrets, func(path string, _ *secret) bool { return strings.HasPrefix(path, body.Prefix) })
		return nil
	})
}

// Fault makes requests below a path slow, or fail. It affects no other path, so
// that tests that need one can run in parallel.
type Fault struct {
	// Delay delays each response.
	Delay duration `json:"delay"`
	// Status is the HTTP status to respond with instead; 0 for none.
	Status int `json:"status"`
}

// fault replaces the fault of a prefix; an empty one removes it.
func (s *Server) fault(q *request) (any, error) {
	var body struct {
		Fault

		Prefix string `json:"prefix"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[body.Prefix] = body.Fault
	return nil, nil
}

// inject waits for the longest delay that is set for a path and returns the highest
// status, or 0.
func (s *Server) inject(ctx context.Context, path string) (status int) {
	_, path, ok := s.state().secretAt(path)
	if !ok {
		return 0
	}
	var delay time.Duration
	s.mu.Lock()
	for prefix, fault := range s.faults {
		if strings.HasPrefix(path, prefix) {
			delay, status = max(delay, time.Duration(fault.Delay)), max(status, fault.Status)
		}
	}
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
	return status
}

// duration is written in the form "1h".
type duration time.Duration

// UnmarshalText parses a duration.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}
