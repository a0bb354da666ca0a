package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/probe"
)

// password contains characters that are special in JSON and in a shell.
const password = `--pass"word\$(one)' ü`

var admin = Account{
	URL: "http://keystone.openstack.svc.cluster.local:5000/v3", User: "admin", Domain: "default", Password: []byte(password),
}

type answer struct {
	code   int
	header http.Header
	err    error
}

func (a answer) Do(*http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{StatusCode: a.code, Header: a.header, Body: io.NopCloser(strings.NewReader(password))}, nil
}

func header(name, value string) http.Header {
	return http.Header{http.CanonicalHeaderKey(name): {value}}
}

func merged(headers ...http.Header) http.Header {
	all := http.Header{}
	for _, header := range headers {
		maps.Copy(all, header)
	}
	return all
}

func TestALoginResponseIsClassified(t *testing.T) {
	for title, test := range map[string]struct {
		answer answer
		want   ask.Verdict
	}{
		"a token":                     {answer{code: 201, header: header(tokenHeader, "t")}, ask.Accepted},
		"a token without the cache":   {answer{code: 201, header: merged(header(tokenHeader, "t"), header(partHeader, "cache"))}, Uncached},
		"201 without a token":         {answer{code: 201}, Odd},
		"200":                         {answer{code: 200, header: header(tokenHeader, "t")}, Odd},
		"a redirect":                  {answer{code: 302}, Odd},
		"400":                         {answer{code: 400}, Odd},
		"401":                         {answer{code: 401}, ask.Rejected},
		"401 that asks for more":      {answer{code: 401, header: header(receiptHeader, "r")}, ask.Accepted},
		"403":                         {answer{code: 403}, Odd},
		"404":                         {answer{code: 404}, Odd},
		"429":                         {answer{code: 429}, Odd},
		"500":                         {answer{code: 500}, Erred},
		"500 of the database":         {answer{code: 500, header: header(partHeader, "database")}, DatabaseFailed},
		"500 of the cache":            {answer{code: 500, header: header(partHeader, "cache")}, CacheFailed},
		"500 of the keys":             {answer{code: 500, header: header(partHeader, "keys")}, KeysFailed},
		"500 of something else":       {answer{code: 500, header: header(partHeader, "moon")}, Erred},
		"401 that blames a part":      {answer{code: 401, header: header(partHeader, "database")}, ask.Rejected},
		"503":                         {answer{code: 503}, Erred},
		"no such host":                {answer{err: &net.DNSError{Err: "no such host", Name: "keystone"}}, probe.Unresolved},
		"no answer":                   {answer{err: context.DeadlineExceeded}, probe.TimedOut},
		"a refused connection":        {answer{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, probe.Unreachable},
		"a connection that is closed": {answer{err: io.EOF}, probe.Broken},
	} {
		t.Run(title, func(t *testing.T) {
			got := admin.logIn(t.Context(), test.answer)
			if got.Verdict != test.want || !strings.Contains(got.Message, admin.URL) {
				t.Errorf("got %+v, want %s and the URL", got, test.want)
			}
			if strings.Contains(got.Message, password) {
				t.Errorf("the message quotes the password: %s", got.Message)
			}
		})
	}
}

func TestALoginRequestHasTheFormatOfKeystone(t *testing.T) {
	var asked *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("X-Subject-Token", "t")
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	account := admin
	account.URL = server.URL + "/v3"
	if got := account.logIn(t.Context(), probe.NewClient()); got.Verdict != ask.Accepted {
		t.Fatalf("got %+v, want it accepted", got)
	}
	if asked.Method != http.MethodPost || asked.URL.String() != "/v3/auth/tokens" || asked.Header.Get("Content-Type") != "application/json" {
		t.Errorf("asked with %s %s, %s", asked.Method, asked.URL, asked.Header.Get("Content-Type"))
	}
	var got any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	want := object{"auth": object{
		"identity": object{
			"methods":  []any{"password"},
			"password": object{"user": object{"name": "admin", "domain": object{"id": "default"}, "password": password}},
		},
		"scope": "unscoped",
	}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("the body (-want +got):\n%s", diff)
	}
}

func TestALoginFollowsNoRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked", r.URL) }))
	t.Cleanup(elsewhere.Close)
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		account := admin
		account.URL = server.URL
		if got := account.logIn(t.Context(), probe.NewClient()); got.Verdict != Odd {
			t.Errorf("after a redirect: got %+v, want %s", got, Odd)
		}
		server.Close()
	}
}

func TestATargetShowsNoPasswordWhenItIsPrinted(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, Target{Account: admin}); strings.Contains(got, "pass") {
			t.Errorf("%s prints %s", format, got)
		}
	}
}

func TestAccountHashesSeparateUserAndDomain(t *testing.T) {
	one, other := admin, admin
	one.User, one.Domain = "a", "bc"
	other.User, other.Domain = "ab", "c"
	if one.hash() == other.hash() {
		t.Error("they have the same hash")
	}
}
