package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
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

func TestAnAnswerIsClassified(t *testing.T) {
	for title, test := range map[string]struct {
		answer answer
		want   Verdict
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
	if want := (Result{Unhealthy, server.URL + " answers with HTTP status 302"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAFindingIsNewsOnlyWhenItDiffers(t *testing.T) {
	p := New(answer{code: 200})
	if _, known := p.Check(name, endpoint, "1"); known {
		t.Fatal("a finding before the first probe")
	}
	healthy, broken := Result{Healthy, "fine"}, Result{Unreachable, "down"}
	for i, step := range []struct {
		result Result
		news   bool
	}{{healthy, true}, {healthy, false}, {broken, true}, {broken, false}, {healthy, true}} {
		if got, _ := p.record(name, endpoint, step.result); got != step.news {
			t.Errorf("finding %d (%s): news is %t, want %t", i, step.result.Verdict, got, step.news)
		}
	}
	if got, known := p.Check(name, endpoint, "1"); !known || got != healthy {
		t.Errorf("got %+v, %t, want the last finding", got, known)
	}
}

func TestThatAnEndpointIsHealthyAsExpectedIsNoNews(t *testing.T) {
	for _, test := range []struct {
		result Result
		news   bool
	}{{Result{Healthy, "fine"}, false}, {Result{Unreachable, "down"}, true}} {
		p := New(answer{code: 200})
		p.Check(name, endpoint, "1")
		p.Expect(name)
		if got, _ := p.record(name, endpoint, test.result); got != test.news {
			t.Errorf("%s: news is %t, want %t", test.result.Verdict, got, test.news)
		}
		if got, known := p.Check(name, endpoint, "1"); !known || got != test.result {
			t.Errorf("got %+v, %t, want the finding", got, known)
		}
	}
}

func TestAnEndpointThatDoesNotAnswerIsAskedLessAndLessOften(t *testing.T) {
	p := New(answer{code: 503})
	p.Check(name, endpoint, "1")
	broken := Result{Unhealthy, "503"}
	last := time.Duration(0)
	for range 40 {
		_, again := p.record(name, endpoint, broken)
		if again < last || again < firstRetry || again > lastRetry {
			t.Fatalf("asked again after %s, before that after %s; want it to grow from %s to %s", again, last, firstRetry, lastRetry)
		}
		last = again
	}
	if last != lastRetry {
		t.Errorf("asked again after %s at last, want %s", last, lastRetry)
	}
	p.Check(name, endpoint, "2")
	if _, again := p.record(name, endpoint, broken); again != firstRetry {
		t.Errorf("asked again after %s although something changed, want %s", again, firstRetry)
	}
	if _, again := p.record(name, endpoint, Result{Healthy, "fine"}); again != healthyPeriod {
		t.Errorf("a healthy endpoint is asked again after %s, want %s", again, healthyPeriod)
	}
}

func TestAFindingAboutAnotherURLIsDropped(t *testing.T) {
	p := New(answer{code: 200})
	p.Check(name, endpoint, "1")
	if news, _ := p.record(name, "http://other/v3", Result{Healthy, "fine"}); news {
		t.Error("a finding about an old URL counts as news")
	}
	p.Check(name, "http://other/v3", "1")
	if _, known := p.Check(name, "http://other/v3", "1"); known {
		t.Error("a finding about an old URL answers for the new one")
	}
}

func TestAnUnchangedTargetIsNotProbedAgainByAPass(t *testing.T) {
	p := New(answer{code: 200})
	p.Check(name, endpoint, "1")
	drain(p)
	p.record(name, endpoint, Result{Healthy, "fine"})
	p.Check(name, endpoint, "1")
	if got := p.queue.Len(); got != 0 {
		t.Errorf("%d probes asked for by an unchanged target, want 0", got)
	}
	p.Check(name, endpoint, "2")
	if got := p.queue.Len(); got != 1 {
		t.Errorf("%d probes asked for by a new trigger, want 1", got)
	}
}

func TestAForgottenTargetIsNotProbed(t *testing.T) {
	p := New(answer{code: 200})
	p.Check(name, endpoint, "1")
	p.Forget(name)
	if _, ok := p.url(name); ok {
		t.Error("a forgotten target still has a URL")
	}
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
			p.Check(types.NamespacedName{Name: strconv.Itoa(i)}, "http://10.255.0.1:5000/v3", "1")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		go func() {
			for {
				select {
				case <-p.changes:
				case <-ctx.Done():
					return
				}
			}
		}()
		// The probes of failing endpoints are spread over time after a few
		// rounds.
		<-time.After(5 * (Timeout + lastRetry))
		asked := time.Now()
		p.Check(name, endpoint, "1")
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

func drain(p *Prober) {
	for p.queue.Len() > 0 {
		key, _ := p.queue.Get()
		p.queue.Done(key)
	}
}
