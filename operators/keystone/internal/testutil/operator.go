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

// verbosity is the level at which controller-runtime logs each pass.
const verbosity = 5

// Operator is a running keystone operator.
type Operator struct {
	// Requests are the operator's own requests to the API server.
	Requests *transport.Counter
	// API answers the operator's health probes.
	API *API

	stop func()
	log  *passLog
}

// Start runs an operator for one namespace, or for all if namespace is empty,
// until the test ends. Its log is shown when the test fails. adjust may change
// what tests replace.
func Start(t testing.TB, cfg *rest.Config, namespace string, adjust ...func(*controller.Options)) *Operator {
	t.Helper()
	o := &Operator{Requests: &transport.Counter{}, API: &API{}, log: &passLog{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o.Requests.Config(cfg), namespace, o.API, o.log.logger(), adjust...) }()
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

// Stop ends the operator and returns when it has.
func (o *Operator) Stop() { o.stop() }

// Passes returns how often the operator has finished a pass over a Keystone.
func (o *Operator) Passes() int {
	o.log.mu.Lock()
	defer o.log.mu.Unlock()
	return o.log.passes
}

// Log returns what the operator has logged.
func (o *Operator) Log() string { return o.log.String() }

// passLog keeps log lines and counts the passes among them.
type passLog struct {
	mu     sync.Mutex
	lines  []string
	passes int
}

func (l *passLog) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if strings.Contains(args, `"msg"="Reconcil`) {
			if !strings.Contains(args, `"msg"="Reconciling"`) {
				l.passes++
			}
			if !strings.Contains(args, `"error"`) {
				return
			}
		}
		args, _, _ = strings.Cut(args, ` "controllerGroup"`)
		l.lines = append(l.lines, time.Now().Format("15:04:05.000 ")+prefix+" "+args)
	}, funcr.Options{Verbosity: verbosity})
}

// String returns the last lines; the whole log of a long test helps nobody.
func (l *passLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-200):], "\n")
}
