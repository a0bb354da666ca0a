// Package running runs an operator in a test, with the caches and
// permissions that it has in production and an API server owned by the test.
package running

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// verbosity is the level up to which the operator logs.
const verbosity = 5

// Program is an operator that can run in a test.
type Program struct {
	// Options are the manager options from the operator's main function.
	Options operator.Options
	// Setup registers the controllers with the manager.
	Setup func(ctx context.Context, mgr ctrl.Manager, settings startup.Config, replaced controller.Options) error
	// Log is where Run writes the operator's log; the zero value discards it.
	Log logr.Logger
	// Trigger returns an object in the operator's cache whose change causes a pass over the
	// resource; nil means the connection Secret of a service.
	Trigger func(resource client.ObjectKey) client.Object
}

// Operator is a running operator.
type Operator struct {
	// Requests records the operator's own requests to the API server.
	Requests *transport.Counter

	stop      func()
	log       *log
	passes    *passes
	announced *announcements
}

// Start runs the program for one namespace, or for all if namespace is empty, until the
// test ends. Its log is shown if the test fails.
func Start(t testing.TB, p Program, cfg *rest.Config, namespace string, replaced controller.Options) *Operator {
	t.Helper()
	o := &Operator{
		Requests: &transport.Counter{}, log: &log{}, passes: newPasses(p.trigger), announced: newAnnouncements(),
	}
	replaced.Around = o.passes.around
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- p.run(ctx, o.Requests.Config(cfg), namespace, replaced, o.log.logger(), o.announced)
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

// trigger is Trigger with its default.
func (p Program) trigger(resource client.ObjectKey) client.Object {
	if p.Trigger != nil {
		return p.Trigger(resource)
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: resource.Namespace, Name: resource.Name + "-db-connection"}}
}

// Run runs the program for one namespace, or for all if namespace is empty, until ctx ends.
func (p Program) Run(ctx context.Context, cfg *rest.Config, namespace string, replaced controller.Options) error {
	return p.run(ctx, cfg, namespace, replaced, p.Log, newAnnouncements())
}

func (p Program) run(
	ctx context.Context, cfg *rest.Config, namespace string, replaced controller.Options, log logr.Logger, announced *announcements,
) error {
	settings := startup.Config{
		Namespace: namespace, MaxConcurrentReconciles: 2,
		OperatorNamespace: strings.TrimSuffix(p.Options.Name, "-operator") + "-system",
	}
	options := operator.ManagerOptions(p.Options, settings)
	options.Logger = log
	mgr, err := ctrl.NewManager(cfg, options)
	if err != nil {
		return fmt.Errorf("create the operator's manager: %w", err)
	}
	if err := p.Setup(ctx, listened{mgr, announced}, settings, replaced); err != nil {
		return fmt.Errorf("set up the operator: %w", err)
	}
	return mgr.Start(ctx)
}

// Stop stops the operator and waits for it. Events that it has not written yet are lost.
func (o *Operator) Stop() { o.stop() }

// Log returns the operator's log.
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
		// Log lines about passes and the queue would obscure the rest.
		if (strings.Contains(args, `"msg"="Reconcil`) && !strings.Contains(args, `"error"`)) ||
			strings.Contains(args, `"msg"="workqueue_items"`) {
			return
		}
		args, _, _ = strings.Cut(args, ` "controllerGroup"`)
		l.lines = append(l.lines, time.Now().Format("15:04:05.000 ")+prefix+" "+args)
	}, funcr.Options{Verbosity: verbosity})
}

// String returns the last lines, because the whole log of a long test is not useful.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-200):], "\n")
}
