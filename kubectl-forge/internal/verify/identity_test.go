package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/login"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

func TestTheAccountOfAKeystoneIsParsedFromItsCloudsYaml(t *testing.T) {
	t.Setenv("OS_CACERT", "/does/not/exist")
	clouds, err := login.KeystoneClouds(testutil.Installed(), "secret: [value]")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseLogin("keystone-admin", login.CloudName, clouds)
	want := gophercloud.AuthOptions{
		Username: "admin", DomainName: "Default", Password: "secret: [value]",
		Scope: &gophercloud.AuthScope{ProjectName: "admin", DomainName: "Default"},
	}
	if diff := cmp.Diff(want, got.Account); diff != "" || err != nil || !got.hasPassword() {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
}

func TestTheAccountOfAControlPlaneIsItsApplicationCredential(t *testing.T) {
	const clouds = "clouds: {admin: {auth: {application_credential_id: an-id, application_credential_secret: hidden}}}"
	got, err := ParseLogin("k-orc-clouds-yaml", "admin", []byte(clouds))
	if account := got.Account; err != nil || got.hasPassword() || account.ApplicationCredentialID != "an-id" ||
		account.ApplicationCredentialSecret != "hidden" {
		t.Errorf("got %v, %v", got, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "hidden") {
		t.Errorf("the secret is printed: %s", text)
	}
}

func TestACloudsFileWithoutAnAccountIsRefusedWithoutItsContent(t *testing.T) {
	for _, clouds := range []string{
		"hidden: [", "clouds: {other: {auth: {username: a, password: hidden}}}", "clouds: {admin: {auth: {password: hidden}}}",
		"clouds: {admin: {auth: {username: a}}}", "clouds: {admin: {auth: {application_credential_secret: hidden}}}", "clouds: hidden", "",
	} {
		if _, err := ParseLogin("secret", "admin", []byte(clouds)); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v", clouds, err)
		}
	}
}

func TestARequestTimeoutIsReported(t *testing.T) {
	api := newAPI(t)
	api.Before = when("GET /v3/auth/catalog", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	plan, cause := planFor(api), errors.New("no answer in time")
	plan.Network = hurried{network{}, cause}
	report, err := plan.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	says(t, textOf(t, report, "Catalog"), api.URL+"/auth/catalog", cause.Error())
}

// hurried is a network whose requests for a catalog are not answered in time.
type hurried struct {
	network
	cause error
}

func (h hurried) Client() *http.Client { return &http.Client{Transport: h} }

func (h hurried) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(request.URL.Path, "/catalog") {
		return http.DefaultTransport.RoundTrip(request)
	}
	ctx, cancel := context.WithTimeoutCause(request.Context(), 1, h.cause)
	defer cancel()
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestAResponseThatIsNotFromKeystoneIsReported(t *testing.T) {
	for _, kind := range []string{"text/html", "application/json"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = fmt.Fprint(w, "<html>")
		}))
		t.Cleanup(server.Close)
		plan := planFor(newAPI(t))
		plan.URL = server.URL + "/"
		report, err := plan.Run(t.Context())
		if err != nil || report.Checks[0].Result != check.Failed {
			t.Errorf("got %v, %v", results(report), err)
		}
		says(t, textOf(t, report, "Login"), "not what the Identity API gives")
	}
}

func TestALongMessageIsShortened(t *testing.T) {
	if got := []rune(shortened(strings.Repeat("ü ", 1000))); len(got) != maxMessage+1 {
		t.Errorf("got %d characters", len(got))
	}
}
