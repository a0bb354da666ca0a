package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestParseReadsVerbResourceAndObject(t *testing.T) {
	for _, tc := range []struct {
		method, url, contentType, want string
	}{
		{"GET", "/api/v1/namespaces/a/secrets/b", "", "get secrets a/b"},
		{"GET", "/api/v1/secrets?limit=500", "", "list secrets"},
		{"GET", "/api/v1/secrets?watch=true", "", "watch secrets"},
		{"GET", "/apis/apps/v1/namespaces/a/deployments?watch=1", "", "watch deployments.apps"},
		{"POST", "/apis/batch/v1/namespaces/a/jobs", "application/json", "create jobs.batch"},
		{"PUT", "/apis/k.io/v1/namespaces/a/keystones/b/status", "", "update keystones.k.io/status a/b"},
		{"PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "application/apply-patch+yaml", "apply deployments.apps a/b"},
		{"PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "application/merge-patch+json", "patch deployments.apps a/b"},
		{"DELETE", "/api/v1/namespaces/a/pods/b", "", "delete pods a/b"},
		{"DELETE", "/api/v1/namespaces/a/pods", "", "deletecollection pods"},
		{"GET", "/api/v1/namespaces/a", "", "get namespaces a"},
		{"PUT", "/api/v1/namespaces/a/finalize", "", "update namespaces/finalize a"},
		{"GET", "/api/v1/namespaces", "", "list namespaces"},
		{"GET", "/apis/apps/v1", "", "get /apis/apps/v1"},
		{"GET", "/api", "", "get /api"},
		{"GET", "/readyz", "", "get /readyz"},
	} {
		req := httptest.NewRequest(tc.method, tc.url, nil)
		req.Header.Set("Content-Type", tc.contentType)
		if got := Parse(req).String(); got != tc.want {
			t.Errorf("Parse(%s %s) = %q, want %q", tc.method, tc.url, got, tc.want)
		}
	}
}

// send sends the requests through the transport and returns their errors.
func send(t *testing.T, rt http.RoundTripper, base string, lines ...string) []error {
	t.Helper()
	var errs []error
	for _, line := range lines {
		method, path, _ := strings.Cut(line, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		errs = append(errs, err)
	}
	return errs
}

// server answers every request and counts those that reached it.
func server(t *testing.T) (url string, reached *atomic.Int32) {
	t.Helper()
	reached = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(s.Close)
	return s.URL, reached
}

const (
	createSecret = "POST /api/v1/namespaces/a/secrets"
	updateSecret = "PUT /api/v1/namespaces/a/secrets/b"
	getSecret    = "GET /api/v1/namespaces/a/secrets/b"
	createEvent  = "POST /apis/events.k8s.io/v1/namespaces/a/events"
	renewLease   = "PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/b"
	watchSecrets = "GET /api/v1/secrets?watch=true"
)

func TestCounterCountsAllButWatchesAndLeases(t *testing.T) {
	url, _ := server(t)
	var c Counter
	rt := c.Wrap(http.DefaultTransport)
	send(t, rt, url, getSecret)
	before := c.Snapshot()
	send(t, rt, url, createSecret, watchSecrets, renewLease, getSecret, createEvent)

	got := c.Since(before)
	want := "create secrets\nget secrets a/b\ncreate events.events.k8s.io"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("requests since the snapshot (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("create secrets", got.Writes().String()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if n := len(got.Events()); n != 1 {
		t.Errorf("events: got %d, want 1", n)
	}
	if n := len(c.All()); n != 4 {
		t.Errorf("all requests: got %d, want 4:\n%s", n, c.All())
	}
	if code := got[0].Code; code != http.StatusOK {
		t.Errorf("status of the first request: got %d, want 200", code)
	}
}

func TestFaultsStrikeTheChosenCall(t *testing.T) {
	lines := []string{getSecret, createEvent, renewLease, createSecret, updateSecret, getSecret, updateSecret}
	const second = 6 // index in lines of the second update
	for mode, want := range map[Mode]struct {
		reached int32
		failed  []int
	}{
		FailBefore: {7, []int{second}},
		FailAfter:  {8, []int{second}},
		KillBefore: {6, []int{second, 7}},
		KillAfter:  {7, []int{second, 7}},
	} {
		t.Run(mode.String(), func(t *testing.T) {
			url, reached := server(t)
			f := NewFaults([]Call{{Kind: "update secrets", N: 2}}, mode)
			var failed []int
			for i, err := range send(t, f.Wrap(http.DefaultTransport), url, append(lines, getSecret)...) {
				if errors.Is(err, ErrInjected) {
					failed = append(failed, i)
				} else if err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
			}
			if diff := cmp.Diff(want.failed, failed); diff != "" {
				t.Errorf("indexes of failed requests (-want +got):\n%s", diff)
			}
			if got := reached.Load(); got != want.reached {
				t.Errorf("requests that reached the server: got %d, want %d", got, want.reached)
			}
			select {
			case <-f.Fired():
			default:
				t.Error("Fired is not closed")
			}
			if got := f.Hits().String(); got != "update secrets a/b" {
				t.Errorf("Hits: got %q", got)
			}
		})
	}
}

func TestFaultsForACallThatIsNeverMadeHaveNoEffect(t *testing.T) {
	url, reached := server(t)
	call := Call{Kind: "create secrets", N: 2}
	f := NewFaults([]Call{call}, KillBefore)
	for _, err := range send(t, f.Wrap(http.DefaultTransport), url, createSecret, getSecret) {
		if err != nil {
			t.Errorf("unexpected error: %v", err)
		}
	}
	if got := reached.Load(); got != 2 {
		t.Errorf("requests that reached the server: got %d, want 2", got)
	}
	if f.Reached(call) {
		t.Errorf("%v is said to be reached", call)
	}
	select {
	case <-f.Fired():
		t.Error("Fired is closed although the write was never reached")
	default:
	}
}

func TestFaultsStrikeTheChosenCallWithTheChosenAnswer(t *testing.T) {
	for mode, want := range map[Mode]int{
		Conflict: http.StatusConflict, TooManyRequests: http.StatusTooManyRequests, InternalError: http.StatusInternalServerError,
	} {
		url, reached := server(t)
		f := NewFaults([]Call{{Kind: "get secrets", N: 1}}, mode)
		rt := f.Wrap(http.DefaultTransport)
		var codes []int
		for _, path := range []string{"/version", "/api/v1/secrets?watch=true", "/api/v1/namespaces/a/secrets/b", "/api/v1/secrets"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, resp.StatusCode)
			if err := resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]int{http.StatusOK, http.StatusOK, want, http.StatusOK}, codes); diff != "" {
			t.Errorf("%s: answers (-want +got):\n%s", mode, diff)
		}
		if got := reached.Load(); got != 3 {
			t.Errorf("%s: requests that reached the server: got %d, want 3", mode, got)
		}
		if diff := cmp.Diff("watch secrets\nget secrets a/b\nlist secrets", f.Seen().String()); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", mode, diff)
		}
	}
}

func TestCallsAreNumberedWithinTheirKinds(t *testing.T) {
	url, _ := server(t)
	var c Counter
	send(t, c.Wrap(http.DefaultTransport), url, createSecret, updateSecret, createSecret, getSecret)
	want := []Call{{"create secrets", 1}, {"update secrets", 1}, {"create secrets", 2}, {"get secrets", 1}}
	if diff := cmp.Diff(want, c.All().Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestFaultsStrikeTheSameCallsInAnyOrder(t *testing.T) {
	url, reached := server(t)
	f := NewFaults([]Call{{"update secrets", 1}, {"create secrets", 2}}, FailAfter, FailBefore)
	rt := f.Wrap(http.DefaultTransport)
	var failed []int
	for i, err := range send(t, rt, url, createSecret, createSecret, createSecret, updateSecret, updateSecret) {
		if errors.Is(err, ErrInjected) {
			failed = append(failed, i)
		}
	}
	if diff := cmp.Diff([]int{1, 3}, failed); diff != "" {
		t.Errorf("indexes of failed writes (-want +got):\n%s", diff)
	}
	// Only the answer to the first is lost, the second is refused.
	if got := reached.Load(); got != 4 {
		t.Errorf("requests that reached the server: got %d, want 4", got)
	}
	if diff := cmp.Diff("create secrets\nupdate secrets a/b", f.Hits().String()); diff != "" {
		t.Errorf("Hits (-want +got):\n%s", diff)
	}
}

func TestNoFaultStrikesAfterTheEnd(t *testing.T) {
	url, _ := server(t)
	f := NewFaults([]Call{{Kind: "create secrets", N: 1}}, FailBefore)
	f.End()
	if err := send(t, f.Wrap(http.DefaultTransport), url, createSecret)[0]; err != nil {
		t.Errorf("unexpected error: %v", err)
	}
}

func TestAnInjectedTimeoutIsADeadlineExceededError(t *testing.T) {
	url, _ := server(t)
	f := NewFaults([]Call{{Kind: "get secrets", N: 1}}, Timeout)
	err := send(t, f.Wrap(http.DefaultTransport), url, getSecret)[0]
	if !errors.Is(err, ErrInjected) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestRefusalsRefuseWhatMatchesUntilTheyAreLifted(t *testing.T) {
	refusals := &Refusals{}
	reached := 0
	through := refusals.Wrap(Func(func(req *http.Request) (*http.Response, error) {
		reached++
		return answer(req, Parse(req), http.StatusOK), nil
	}))
	code := func(method, path string) int {
		t.Helper()
		resp, err := through.RoundTrip(httptest.NewRequest(method, path, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	const one, other = "/api/v1/namespaces/a/secrets/b", "/api/v1/namespaces/a/secrets/c"
	lift := refusals.Refuse(func(r Request) bool { return r.Verb == "update" && r.Name == "b" })
	if got := code("PUT", one); got != http.StatusForbidden || reached != 0 {
		t.Errorf("answered %d after %d calls went through", got, reached)
	}
	for method, path := range map[string]string{"GET": one, "PUT": other} {
		if got := code(method, path); got != http.StatusOK {
			t.Errorf("%s %s: answered %d", method, path, got)
		}
	}
	lift()
	if got := code("PUT", one); got != http.StatusOK {
		t.Errorf("answered %d after the refusal was lifted", got)
	}
}

// readAnswer sends a GET through a transport and describes the result.
func readAnswer(t *testing.T, through http.RoundTripper, path string) <-chan string {
	t.Helper()
	told := make(chan string, 1)
	go func() {
		resp, err := through.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if err != nil {
			told <- err.Error()
			return
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		told <- fmt.Sprint(string(text), err)
	}()
	return told
}

func TestAHeldWatchDeliversNothingUntilItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holds := &Holds{}
		through := holds.Wrap(Func(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("deleted")), Request: req}, nil
		}))
		release := holds.Hold(func(watch *http.Request) bool { return Parse(watch).Resource == "secrets" })
		const want = "deleted<nil>"
		for _, path := range []string{"/api/v1/configmaps?watch=true", "/api/v1/secrets"} {
			if got := <-readAnswer(t, through, path); got != want {
				t.Errorf("%s: read %q, want %q", path, got, want)
			}
		}
		told := readAnswer(t, through, "/api/v1/secrets?watch=true")
		synctest.Wait()
		select {
		case got := <-told:
			t.Errorf("the held watch has told %q", got)
		default:
		}
		release()
		release()
		if got := <-told; got != want {
			t.Errorf("after its release the watch told %q, want %q", got, want)
		}
	})
}
