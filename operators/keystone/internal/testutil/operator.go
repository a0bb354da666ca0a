// Package testutil runs the keystone operator inside a test, with the caches
// and rights it has in production and an API server that the test owns.
package testutil

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

// verbosity is the level up to which the operator logs.
const verbosity = 5

// Operator is a running keystone operator.
type Operator struct {
	// Requests are the operator's own requests to the API server.
	Requests *transport.Counter
	// API answers the operator's health probes.
	API *API

	stop      func()
	log       *log
	passes    *passes
	announced *announcements
}

// Start runs an operator for one namespace, or for all if namespace is empty,
// until the test ends. Its log is shown when the test fails. adjust may change
// what tests replace.
func Start(t testing.TB, cfg *rest.Config, namespace string, adjust ...func(*controller.Options)) *Operator {
	t.Helper()
	o := &Operator{Requests: &transport.Counter{}, API: &API{}, log: &log{}, passes: newPasses()}
	o.announced = &announcements{counts: map[string]int{}}
	adjust = append(adjust, func(options *controller.Options) { options.Around = o.passes.around })
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, o.Requests.Config(cfg), namespace, o.API, o.log.logger(), o.announced, adjust...)
	}()
	o.stop = sync.OnceFunc(func() {
		early := len(ended) > 0
		cancel()
		if err := <-ended; early || err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	})
	t.Cleanup(func() {
		o.stop()
		if t.Failed() {
			t.Logf("the operator's log:\n%s", o.log)
		}
	})
	return o
}

// Stop ends the operator and returns when it has. Events that it has not written
// yet are lost.
func (o *Operator) Stop() { o.stop() }

// Log returns what the operator has logged.
func (o *Operator) Log() string { return o.log.String() }

// log keeps log lines.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		// Passes and the queue would hide the rest.
		if (strings.Contains(args, `"msg"="Reconcil`) && !strings.Contains(args, `"error"`)) ||
			strings.Contains(args, `"msg"="workqueue_items"`) {
			return
		}
		args, _, _ = strings.Cut(args, ` "controllerGroup"`)
		l.lines = append(l.lines, time.Now().Format("15:04:05.000 ")+prefix+" "+args)
	}, funcr.Options{Verbosity: verbosity})
}

// String returns the last lines; the whole log of a long test helps nobody.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-200):], "\n")
}
