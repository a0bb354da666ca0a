// Package probe asks HTTP endpoints in the background whether they answer, so
// that a reconcile pass never waits for the network.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// Timeout bounds one request.
	Timeout = 10 * time.Second

	healthyPeriod = 5 * time.Minute
	// An endpoint that does not answer is asked again soon, because most have
	// only just come up, and then less and less often.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 10 * time.Second

	// workers is how many probes run at once. An endpoint that swallows packets
	// holds a worker for the whole Timeout and wants the next one lastRetry
	// later, so it takes about half a worker for good: this many let a hundred
	// such endpoints fail without delaying the news about another one. A worker
	// is a goroutine that mostly waits, so spare ones cost next to nothing.
	workers = 64

	// maxDoublings keeps the shift far from overflowing.
	maxDoublings = 10
)

// Verdict classifies an answer.
type Verdict string

const (
	// Healthy means a 2xx answer.
	Healthy Verdict = "Healthy"
	// Unhealthy means an answer with another status.
	Unhealthy Verdict = "Unhealthy"
	// Unresolved means that the host name has no address.
	Unresolved Verdict = "Unresolved"
	// TimedOut means no answer within Timeout.
	TimedOut Verdict = "TimedOut"
	// Unreachable means that no connection came about.
	Unreachable Verdict = "Unreachable"
	// Broken means any other failure.
	Broken Verdict = "Broken"
)

// Result is what the last probe of an endpoint found. Message is stable: the
// same finding always reads the same.
type Result struct {
	Verdict Verdict
	Message string
}

// Doer sends a request; *http.Client is one.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

type target struct {
	url     string
	trigger string
	result  Result
	known   bool
	// failures counts the findings other than Healthy in a row.
	failures int
}

// Prober probes one endpoint for each resource. It is a manager runnable.
type Prober struct {
	client  Doer
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]
	changes chan event.GenericEvent

	mu      sync.Mutex
	targets map[types.NamespacedName]*target
}

// New returns a Prober that sends its requests with client; nil means an HTTP
// client with Timeout that keeps no connections and follows neither proxy settings,
// because the endpoints are inside the cluster, nor redirects: whoever answers for
// an endpoint must not choose what else the operator asks.
func New(client Doer) *Prober {
	if client == nil {
		client = &http.Client{
			Timeout: Timeout, Transport: &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &Prober{
		client:  client,
		queue:   workqueue.NewTypedDelayingQueue[types.NamespacedName](),
		changes: make(chan event.GenericEvent),
		targets: map[types.NamespacedName]*target{},
	}
}

// Check returns the last finding for the resource's endpoint and false while
// there is none for this URL. A new URL or trigger asks for a fresh probe;
// callers pass as trigger whatever suggests that the answer may have changed.
func (p *Prober) Check(name types.NamespacedName, url, trigger string) (Result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.targets[name]
	if known == nil || known.url != url {
		known = &target{url: url}
		p.targets[name] = known
	}
	if !known.known || known.trigger != trigger {
		known.trigger, known.failures = trigger, 0
		p.queue.Add(name)
	}
	return known.result, known.known
}

// Forget stops probing for the resource.
func (p *Prober) Forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.targets, name)
}

// Source delivers a request for a resource whenever the finding about its
// endpoint changes.
func (p *Prober) Source() source.TypedSource[reconcile.Request] {
	return source.Channel(p.changes, &handler.EnqueueRequestForObject{})
}

// Start probes until ctx ends.
func (p *Prober) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { p.work(ctx) })
	}
	<-ctx.Done()
	p.queue.ShutDown()
	group.Wait()
	return nil
}

// NeedLeaderElection is true: only the leader reads the findings.
func (p *Prober) NeedLeaderElection() bool { return true }

func (p *Prober) work(ctx context.Context) {
	for {
		name, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		p.probe(ctx, name)
		p.queue.Done(name)
	}
}

func (p *Prober) probe(ctx context.Context, name types.NamespacedName) {
	url, ok := p.url(name)
	if !ok {
		return
	}
	result := p.ask(ctx, url)
	if ctx.Err() != nil {
		return
	}
	news, period := p.record(name, url, result)
	if news {
		select {
		case p.changes <- event.GenericEvent{Object: reference(name)}:
		case <-ctx.Done():
			return
		}
	}
	// The jitter spreads the probes of many resources.
	p.queue.AddAfter(name, period+rand.N(period/5)) //nolint:gosec // Not a secret: it only spreads load.
}

func (p *Prober) url(name types.NamespacedName) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.targets[name]
	if known == nil {
		return "", false
	}
	return known.url, true
}

// record stores the finding and tells whether it is news and when to ask again.
func (p *Prober) record(name types.NamespacedName, url string, result Result) (news bool, again time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.targets[name]
	if known == nil || known.url != url {
		return false, firstRetry
	}
	news = !known.known || known.result != result
	known.result, known.known = result, true
	if result.Verdict == Healthy {
		known.failures = 0
		return news, healthyPeriod
	}
	known.failures++
	return news, min(firstRetry<<min(known.failures-1, maxDoublings), lastRetry)
}

func (p *Prober) ask(ctx context.Context, url string) Result {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return Result{Broken, fmt.Sprintf("the URL %q cannot be used", url)}
	}
	response, err := p.client.Do(request)
	if err != nil {
		return classify(url, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return Result{Unhealthy, fmt.Sprintf("%s answers with HTTP status %d", url, response.StatusCode)}
	}
	return Result{Healthy, url + " answers"}
}

// classify words an error without its volatile parts, such as local ports.
func classify(url string, err error) Result {
	var dns *net.DNSError
	var network net.Error
	var operation *net.OpError
	switch {
	case errors.As(err, &dns):
		return Result{Unresolved, fmt.Sprintf("the host of %s has no address yet; check the Service and the cluster's DNS", url)}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Result{TimedOut, fmt.Sprintf("%s did not answer within %s", url, Timeout)}
	case errors.As(err, &operation):
		return Result{Unreachable, fmt.Sprintf("no connection to %s; check the pods behind the Service and the network policies", url)}
	}
	return Result{Broken, fmt.Sprintf("asking %s failed", url)}
}

func reference(name types.NamespacedName) client.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name.Name, Namespace: name.Namespace}}
}
