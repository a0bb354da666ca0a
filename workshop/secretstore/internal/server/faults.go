package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
)

// Fault makes requests below a path slow, or fail. It affects no other path, so
// that tests that need one can run in parallel.
type Fault struct {
	// Delay delays each response.
	Delay auth.Duration `json:"delay,omitzero"`
	// Status is the HTTP status to respond with instead; 0 for none.
	Status int `json:"status,omitzero"`
}

type faults struct {
	mu       sync.Mutex
	byPrefix map[string]Fault
}

// set replaces the fault of a prefix; an empty one removes it.
func (f *faults) set(prefix string, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == (Fault{}) {
		delete(f.byPrefix, prefix)
		return
	}
	f.byPrefix[prefix] = fault
}

// at returns the longest delay and the highest status that are set for a path.
func (f *faults) at(path string) (delay time.Duration, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for prefix, fault := range f.byPrefix {
		if strings.HasPrefix(path, prefix) {
			delay, status = max(delay, fault.Delay.Duration), max(status, fault.Status)
		}
	}
	return delay, status
}

// inject waits for the delays of a path and returns the status to respond
// with, or 0.
func (f *faults) inject(ctx context.Context, path string) int {
	delay, status := f.at(path)
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return http.StatusServiceUnavailable
		}
	}
	return status
}
