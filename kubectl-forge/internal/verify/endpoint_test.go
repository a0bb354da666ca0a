package verify

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

// answering is a server that always gives the same answer.
func answering(t *testing.T, code int, body string, header ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != "" {
			t.Error("a token was sent")
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// reached runs a plan with another endpoint and returns the check of it.
func reached(t *testing.T, service, address string) Step {
	t.Helper()
	api := newAPI(t)
	api.Catalog = map[string]string{"identity internal": api.URL, service + " public": address}
	plan := planFor(api)
	plan.Interfaces = []string{"public"}
	report, err := plan.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, step := range report.Checks {
		if strings.HasPrefix(step.Name, checkEndpoint+" "+service+" ") {
			return step
		}
	}
	t.Fatalf("got %v", results(report))
	return Step{}
}

func TestAnEndpointHasToAnswerAsAnAPI(t *testing.T) {
	const versions = `{"versions": {"values": [{"id": "v3.14", "status": "stable"}]}}`
	for title, test := range map[string]struct {
		service, address string
		want             check.Result
		text             string
	}{
		"its version":           {"identity", answering(t, 200, `{"version": {"id": "v3.14"}}`), check.OK, "HTTP status 200, v3.14"},
		"all versions":          {"identity", answering(t, 300, versions), check.OK, "HTTP status 300, v3.14"},
		"a page":                {"identity", answering(t, 200, "<html>"), check.Failed, "something else is at that URL"},
		"another document":      {"identity", answering(t, 200, `{"versions": "none"}`), check.Failed, "something else is at that URL"},
		"a redirect":            {"identity", answering(t, 302, "", "Location", "https://sso"), check.Failed, "to https://sso: correct"},
		"nothing there":         {"identity", answering(t, 404, "404 page not found"), check.Failed, "HTTP status 404: correct the endpoint"},
		"an outage":             {"identity", answering(t, 503, ""), check.Failed, "HTTP status 503"},
		"the need for a token":  {"volumev3", answering(t, 401, ""), check.OK, "HTTP status 401"},
		"a page of another one": {"dashboard", answering(t, 200, "<html>"), check.OK, "HTTP status 200"},
		"a move of another one": {"compute", answering(t, 302, "", "Location", "/v2.1/"), check.OK, "redirects to /v2.1/"},
		"an outage of another":  {"compute", answering(t, 502, ""), check.Failed, "HTTP status 502"},
		"a closed port":         {"compute", "http://127.0.0.1:1/", check.Failed, "http://127.0.0.1:1/ cannot be reached: dial tcp 127.0.0.1:1"},
		"no URL":                {"compute", "keystone:5000", check.Failed, "is no URL of an API"},
		"a broken URL":          {"compute", "http://[::1/v3", check.Failed, "is no URL of an API"},
		"no URL at all":         {"compute", "", check.Failed, "is no URL of an API"},
		"another scheme":        {"compute", "ftp://127.0.0.1/", check.Failed, "unsupported protocol scheme"},
	} {
		t.Run(title, func(t *testing.T) {
			step := reached(t, test.service, test.address)
			if step.Result != test.want || !strings.Contains(step.Text, test.text) {
				t.Errorf("got %+v, want %s with %q", step, test.want, test.text)
			}
		})
	}
}

func TestPlacementHasToListSomethingForTheAdministrator(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/resource_classes" && r.Header.Get("X-Auth-Token") == testutil.ProjectToken {
			w.WriteHeader(code)
			return
		}
		_, _ = fmt.Fprint(w, `{"versions": [{"id": "v1.0", "max_version": "1.39", "status": "CURRENT"}]}`)
	}))
	t.Cleanup(server.Close)
	if step := reached(t, "placement", server.URL+"/"); step.Result != check.OK || !strings.Contains(step.Text, "v1.0 up to 1.39") {
		t.Errorf("got %+v", step)
	}
	code = http.StatusServiceUnavailable
	step := reached(t, "placement", server.URL)
	if step.Result != check.Failed {
		t.Errorf("got %+v", step)
	}
	says(t, step.Text, server.URL+"/resource_classes answers a request of the administrator with HTTP status 503")
}

func TestAnUnknownCASuggestsTheCACertFlag(t *testing.T) {
	says(t, advised(fmt.Errorf("dialling: %w", x509.UnknownAuthorityError{})), "--os-cacert")
}

func TestTheCurrentVersionIsNamed(t *testing.T) {
	for document, want := range map[string]string{
		`{"versions": [{"id": "v2.0", "status": "SUPPORTED"}, {"id": "v2.1", "status": "CURRENT"}]}`: "v2.1",
		`{"versions": [{"id": "v9"}]}`: "v9",
		`{"versions": []}`:             "",
		`{"version": {"id": "v1", "status": "CURRENT", "max_version": "1.2"}}`: "v1 up to 1.2",
		`[]`: "", ``: "",
	} {
		if got := versionOf([]byte(document)); got != want {
			t.Errorf("%s: got %q, want %q", document, got, want)
		}
	}
}
