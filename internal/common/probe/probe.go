// Package probe checks in the background whether HTTP endpoints answer, so
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

	"k8s.io/apimachinery/pkg/types"
)

const (
	// Timeout bounds one request.
	Timeout = 10 * time.Second

	healthyPeriod = 5 * time.Minute
	// An endpoint that does not answer is probed again soon, because most have
	// only just come up, and then less and less often.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 10 * time.Second

	// workers is how many probes run concurrently. An endpoint that drops packets
	// occupies a worker for the whole Timeout and is probed again lastRetry
	// later, so it permanently takes about half a worker: this many let a hundred
	// such endpoints fail without delaying the findings about another one. A worker
	// is a goroutine that mostly waits, so spare ones cost next to nothing.
	workers = 64

	// maxDoublings prevents the shift from overflowing.
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
	// Unreachable means that no connection could be established.
	Unreachable Verdict = "Unreachable"
	// Broken means any other failure.
	Broken Verdict = "Broken"
)

// Result is the finding of the last probe of an endpoint. Message is stable: the
// same finding always has the same text.
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
	// expected means that the endpoint counts as healthy while there is no
	// result.
	expected bool
	// failures counts the consecutive findings other than Healthy.
	failures int
}

// Prober probes one endpoint for each resource. It is a manager runnable.
type Prober struct {
	Loop
	client Doer

	mu      sync.Mutex
	targets map[types.NamespacedName]*target
}

// NewClient returns an HTTP client with Timeout that reuses no connections. It
// ignores proxy settings, because the endpoints are inside the cluster, and
// does not follow redirects: the server behind an endpoint must not determine
// what else the operator requests.
func NewClient() *http.Client {
	return &http.Client{
		Timeout: Timeout, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// New returns a Prober that sends its requests with client; nil means the client of
// NewClient.
func New(client Doer) *Prober {
	if client == nil {
		client = NewClient()
	}
	return &Prober{Loop: NewLoop(workers), client: client, targets: map[types.NamespacedName]*target{}}
}

// Check returns the last finding for the resource's endpoint, and false if
// there is none for this URL. A new URL or trigger requests a new probe;
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
		p.Schedule(name, 0)
	}
	return known.result, known.known
}

// Expect marks the endpoint of the last Check as healthy because the previous
// process found it so. A healthy result is then not announced.
func (p *Prober) Expect(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.targets[name]; known != nil {
		known.expected = true
	}
}

// Forget stops probing for the resource.
func (p *Prober) Forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.targets, name)
}

// Start probes until ctx ends.
func (p *Prober) Start(ctx context.Context) error {
	p.Run(ctx, p.probe)
	return nil
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
	if news && !p.Tell(ctx, name) {
		return
	}
	// The jitter spreads the probes of many resources.
	p.Schedule(name, period+rand.N(period/5)) //nolint:gosec // Not a secret: it only spreads load.
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

// record stores the finding. It returns whether the finding is new, and when to
// probe again.
func (p *Prober) record(name types.NamespacedName, url string, result Result) (news bool, again time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.targets[name]
	if known == nil || known.url != url {
		return false, firstRetry
	}
	news = known.result != result
	if !known.known {
		news = !known.expected || result.Verdict != Healthy
	}
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
		return Classify(url, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return Result{Unhealthy, fmt.Sprintf("%s answers with HTTP status %d", url, response.StatusCode)}
	}
	return Result{Healthy, url + " answers"}
}

// Classify describes the error of a request to the URL without its volatile
// parts, such as local ports.
func Classify(url string, err error) Result {
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
	return Result{Broken, fmt.Sprintf("the request to %s failed", url)}
}
