// Package probe checks in the background whether HTTP endpoints answer, so
// that a reconcile pass never waits for the network.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ask"
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
)

// The verdicts on an endpoint.
const (
	// Healthy means a 2xx answer.
	Healthy = ask.Accepted
	// Unhealthy means an answer with another status.
	Unhealthy ask.Verdict = "Unhealthy"
	// Unresolved means that the host name has no address.
	Unresolved ask.Verdict = "Unresolved"
	// TimedOut means no answer within Timeout.
	TimedOut ask.Verdict = "TimedOut"
	// Unreachable means that no connection could be established.
	Unreachable ask.Verdict = "Unreachable"
	// Broken means any other failure.
	Broken ask.Verdict = "Broken"
)

// policy has a change of the trigger probed at once.
var policy = ask.Policy{
	Again: func(verdict ask.Verdict, failures int) time.Duration {
		if verdict == Healthy {
			return healthyPeriod
		}
		return ask.Doubled(firstRetry, lastRetry, failures)
	},
	Afresh: true, Repeats: true,
}

// Doer sends a request; *http.Client is one.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

// Prober probes one endpoint for each resource. It is a manager runnable.
type Prober struct {
	*ask.Ledger
	client Doer
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
	return &Prober{Ledger: ask.New(workers, nil), client: client}
}

// Check returns the last finding for the resource's endpoint. Without one for this URL, its
// verdict is [ask.Unproven] or [ask.Pending], or Healthy if the process before this one found
// the endpoint so. A new URL or trigger requests a new probe; callers pass as trigger whatever
// suggests that the answer may have changed.
func (p *Prober) Check(name types.NamespacedName, url, trigger string, wasHealthy bool) ask.Answer {
	question := ask.Question{
		ID: url, Inputs: trigger, Policy: policy, Ask: func(ctx context.Context) ask.Answer { return p.ask(ctx, url) },
	}
	if wasHealthy {
		question.Before.Verdict = Healthy
	}
	return p.Ledger.Check(name, question)
}

func (p *Prober) ask(ctx context.Context, url string) ask.Answer {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return found(Broken, "the URL %q cannot be used", url)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return Classify(url, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return found(Unhealthy, "%s answers with HTTP status %d", url, response.StatusCode)
	}
	return ask.Answer{Verdict: Healthy, Message: url + " answers"}
}

func found(verdict ask.Verdict, format string, arguments ...any) ask.Answer {
	return ask.Answer{Verdict: verdict, Message: fmt.Sprintf(format, arguments...)}
}

// Classify describes the error of a request to the URL without its volatile
// parts, such as local ports.
func Classify(url string, err error) ask.Answer {
	var dns *net.DNSError
	var network net.Error
	var operation *net.OpError
	switch {
	case errors.As(err, &dns):
		return found(Unresolved, "the host of %s has no address yet; check the Service and the cluster's DNS", url)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return found(TimedOut, "%s did not answer within %s", url, Timeout)
	case errors.As(err, &operation):
		return found(Unreachable, "no connection to %s; check the pods behind the Service and the network policies", url)
	}
	return found(Broken, "the request to %s failed", url)
}
