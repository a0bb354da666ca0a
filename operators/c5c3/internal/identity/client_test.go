package identity

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/ask"
)

func TestALoginVerdictFollowsTheStatusCode(t *testing.T) {
	for status, want := range map[int]ask.Verdict{
		http.StatusCreated: ask.Accepted, http.StatusUnauthorized: ask.Rejected, http.StatusInternalServerError: ask.Unproven,
		http.StatusNotFound: ask.Unproven, http.StatusOK: ask.Unproven,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v3/auth/tokens" ||
				!strings.Contains(string(body), `"application_credential":{"id":"the-id","secret":"s3cret"}`) {
				t.Errorf("got %s %s %s (%v)", r.Method, r.URL, body, err)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"token":{}}`)
		}))
		got, err := LogIn(t.Context(), server.URL+"/v3", "the-id", "s3cret")
		server.Close()
		if got != want || (err == nil) != (want != ask.Unproven) {
			t.Errorf("status %d: got %v and %v", status, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

// This is Keystone's answer about an unknown credential. A wrong path has the same
// status.
func TestAnUnknownCredentialIsRejected(t *testing.T) {
	for body, want := range map[string]ask.Verdict{
		`{"error":{"code":404,"message":"Could not find Application Credential: the-id.","title":"Not Found"}}`: ask.Rejected,
		`{"error":{"code":404,"message":"Could not find Application Credential: other.","title":"Not Found"}}`:  ask.Unproven,
		"404 page not found": ask.Unproven,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, body)
		}))
		got, err := LogIn(t.Context(), server.URL+"/v3", "the-id", "s3cret")
		server.Close()
		if got != want || (err == nil) != (want != ask.Unproven) {
			t.Errorf("%s: got %v and %v, want %v", body, got, err, want)
		}
	}
}

func TestALoginAtAnUnreachableKeystoneIsUnproven(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	got, err := LogIn(t.Context(), server.URL, "id", "s3cret")
	if got != ask.Unproven || err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v and %v", got, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked", r.URL) }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	if got, err := LogIn(t.Context(), server.URL+"/v3", "id", "s3cret"); got != ask.Unproven || err == nil {
		t.Errorf("got %v and %v", got, err)
	}
	if err := NewAdministrator(nil).Revoke(t.Context(), server.URL+"/v3", "s3cret", "id"); err == nil {
		t.Error("a redirect counts as a revocation")
	}
}
