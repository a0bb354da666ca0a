package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ask"
)

type answer struct {
	code int
	err  error
}

func (a answer) Do(*http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{StatusCode: a.code, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

var name = types.NamespacedName{Namespace: "openstack", Name: "keystone"}

const endpoint = "http://keystone.openstack.svc.cluster.local:5000/v3"

func TestAProbeResultIsClassified(t *testing.T) {
	for title, test := range map[string]struct {
		answer answer
		want   ask.Verdict
	}{
		"2xx":              {answer{code: 200}, Healthy},
		"300":              {answer{code: 300}, Unhealthy},
		"500":              {answer{code: 500}, Unhealthy},
		"no such host":     {answer{err: &net.DNSError{Err: "no such host", Name: "keystone"}}, Unresolved},
		"no answer":        {answer{err: context.DeadlineExceeded}, TimedOut},
		"refused":          {answer{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, Unreachable},
		"anything else":    {answer{err: errors.New("malformed response")}, Broken},
		"a wrapped refuse": {answer{err: errors.Join(errors.New("get"), &net.OpError{Op: "dial", Err: errors.New("refused")})}, Unreachable},
	} {
		t.Run(title, func(t *testing.T) {
			got := New(test.answer).ask(t.Context(), endpoint)
			if got.Verdict != test.want || !strings.Contains(got.Message, endpoint) {
				t.Errorf("got %+v, want %s and the URL", got, test.want)
			}
		})
	}
}

func TestAProbeFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked", r.URL) }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	t.Cleanup(server.Close)
	got := New(nil).ask(t.Context(), server.URL)
	if want := (ask.Answer{Verdict: Unhealthy, Message: server.URL + " answers with HTTP status 302"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// answers gives one answer after the other, and counts them.
type answers struct {
	mu    sync.Mutex
	codes []int
	asked []time.Time
}

func (a *answers) Do(request *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, time.Now())
	return answer{code: a.codes[min(len(a.asked), len(a.codes))-1]}.Do(request)
}

// times returns when it was asked.
func (a *answers) times() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// inBubble runs a prober in virtual time, and counts the passes that it triggers.
func inBubble(t *testing.T, client Doer, test func(t *testing.T, p *Prober, passes func() int)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := New(client)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		var told atomic.Int64
		go func() { ended <- p.Start(ctx) }()
		go func() {
			for {
				select {
				case <-p.News():
					told.Add(1)
				case <-ctx.Done():
					return
				}
			}
		}()
		test(t, p, func() int {
			synctest.Wait()
			return int(told.Load())
		})
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAProbeResultTriggersAReconcileOnlyWhenItChanges(t *testing.T) {
	client := &answers{codes: []int{200}}
	inBubble(t, client, func(t *testing.T, p *Prober, passes func() int) {
		if got := p.Check(name, endpoint, "0", false); got.Verdict != ask.Unproven {
			t.Fatal("a finding before the first probe")
		}
		for i, step := range []struct {
			code  int
			news  int
			found ask.Verdict
		}{{200, 1, Healthy}, {200, 1, Healthy}, {503, 2, Unhealthy}, {503, 2, Unhealthy}, {200, 3, Healthy}} {
			client.mu.Lock()
			client.codes = []int{step.code}
			client.mu.Unlock()
			p.Check(name, endpoint, strconv.Itoa(i), false)
			if got := passes(); got != step.news {
				t.Errorf("finding %d (%d): %d passes, want %d", i, step.code, got, step.news)
			}
			if got := p.Check(name, endpoint, strconv.Itoa(i), false); got.Verdict != step.found {
				t.Errorf("got %+v, want the last finding", got)
			}
		}
	})
}

func TestAHealthyEndpointIsNotReportedAgainAfterARestart(t *testing.T) {
	for code, news := range map[int]int{200: 0, 503: 1} {
		inBubble(t, answer{code: code}, func(t *testing.T, p *Prober, passes func() int) {
			if got := p.Check(name, endpoint, "1", true); got.Verdict != Healthy {
				t.Errorf("got %+v before the first probe, want that it is healthy", got)
			}
			if got := passes(); got != news {
				t.Errorf("%d: %d passes, want %d", code, got, news)
			}
			if got := p.Check(name, endpoint, "1", true); (got.Verdict == Healthy) != (code == 200) {
				t.Errorf("got %+v, want the finding", got)
			}
		})
	}
}

func TestAnUnhealthyEndpointIsProbedWithBackoff(t *testing.T) {
	client := &answers{codes: []int{503}}
	inBubble(t, client, func(t *testing.T, p *Prober, _ func() int) {
		p.Check(name, endpoint, "1", false)
		<-time.After(5 * time.Minute)
		last := firstRetry
		asked := client.times()
		for i := range asked[1:] {
			again := asked[i+1].Sub(asked[i])
			// A retry is up to a fifth later.
			if again < last || again > lastRetry*6/5 {
				t.Fatalf("asked again after %s, before that after %s; want it to grow from %s to %s", again, last, firstRetry, lastRetry)
			}
			last = min(again*5/6, lastRetry)
		}
		if last < lastRetry*5/6 {
			t.Errorf("asked again after %s at last, want %s", last, lastRetry)
		}
		before := len(client.times())
		p.Check(name, endpoint, "2", false)
		<-time.After(firstRetry * 6 / 5)
		if got := len(client.times()) - before; got < 2 {
			t.Errorf("asked %d times although something changed, want at once and again after %s", got, firstRetry)
		}
		client.mu.Lock()
		client.codes = []int{200}
		client.mu.Unlock()
		p.Check(name, endpoint, "3", false)
		synctest.Wait()
		before = len(client.times())
		<-time.After(healthyPeriod - time.Second)
		if got := len(client.times()); got != before {
			t.Errorf("a healthy endpoint was asked %d times within %s", got-before, healthyPeriod)
		}
		<-time.After(healthyPeriod / 2)
		if got := len(client.times()); got != before+1 {
			t.Errorf("a healthy endpoint was asked %d times after %s, want once", got-before, healthyPeriod)
		}
	})
}

func TestAFindingAboutAnotherURLIsDropped(t *testing.T) {
	slow := slowly{answer{code: 200}}
	inBubble(t, slow, func(t *testing.T, p *Prober, passes func() int) {
		p.Check(name, endpoint, "1", false)
		passes()
		p.Check(name, "http://other/v3", "1", false)
		<-time.After(3 * time.Second / 2)
		if got := p.Check(name, "http://other/v3", "1", false); got.Verdict == Healthy || passes() != 0 {
			t.Errorf("a finding about an old URL answers for the new one: %+v", got)
		}
		<-time.After(time.Second)
		if got := p.Check(name, "http://other/v3", "1", false); got.Message != "http://other/v3 answers" || passes() != 1 {
			t.Errorf("the new URL is not probed: %+v", got)
		}
	})
}

// slowly answers after a second.
type slowly struct{ Doer }

func (s slowly) Do(request *http.Request) (*http.Response, error) {
	<-time.After(time.Second)
	return s.Doer.Do(request)
}

func TestAnUnchangedTargetIsNotProbedAgainByAPass(t *testing.T) {
	client := &answers{codes: []int{200}}
	inBubble(t, client, func(t *testing.T, p *Prober, passes func() int) {
		for range 3 {
			p.Check(name, endpoint, "1", false)
			passes()
		}
		if got := len(client.times()); got != 1 {
			t.Errorf("%d probes of an unchanged target, want 1", got)
		}
		p.Check(name, endpoint, "2", false)
		passes()
		if got := len(client.times()); got != 2 {
			t.Errorf("%d probes after a new trigger, want 2", got)
		}
	})
}

func TestAForgottenTargetIsNotProbed(t *testing.T) {
	client := &answers{codes: []int{503}}
	inBubble(t, client, func(t *testing.T, p *Prober, passes func() int) {
		p.Check(name, endpoint, "1", false)
		passes()
		p.Forget(name)
		<-time.After(time.Hour)
		if got := len(client.times()); got != 1 {
			t.Errorf("a forgotten target was probed %d times", got-1)
		}
	})
}

// silentExcept answers for one URL only; other requests end with their context.
type silentExcept struct {
	url      string
	answered chan struct{}
}

func (s silentExcept) Do(request *http.Request) (*http.Response, error) {
	if request.URL.String() != s.url {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	close(s.answered)
	return answer{code: 200}.Do(request)
}

func TestEndpointsThatSwallowPacketsDoNotDelayAnother(t *testing.T) {
	// In a synctest bubble time only advances when all goroutines are blocked.
	synctest.Test(t, func(t *testing.T) {
		answers := silentExcept{url: endpoint, answered: make(chan struct{})}
		p := New(answers)
		for i := range 100 {
			p.Check(types.NamespacedName{Name: strconv.Itoa(i)}, "http://10.255.0.1:5000/v3", "1", false)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		go func() {
			for {
				select {
				case <-p.News():
				case <-ctx.Done():
					return
				}
			}
		}()
		// The probes of failing endpoints are spread over time after a few
		// rounds.
		<-time.After(5 * (Timeout + lastRetry))
		asked := time.Now()
		p.Check(name, endpoint, "1", false)
		<-answers.answered
		if waited := time.Since(asked); waited > time.Second {
			t.Errorf("the endpoint was asked after %s, want at once", waited)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
