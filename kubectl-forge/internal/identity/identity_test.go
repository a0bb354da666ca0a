package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/kubectl-forge/internal/login"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

func TestTheAccountOfAKeystoneIsThatOfItsClouds(t *testing.T) {
	clouds, err := login.KeystoneClouds(testutil.Installed(), "secret: [value]")
	if err != nil {
		t.Fatal(err)
	}
	account, err := Parse(clouds, login.CloudName)
	want := Account{User: "admin", UserDomain: "Default", Password: []byte("secret: [value]"), Project: "admin", ProjectDomain: "Default"}
	if diff := cmp.Diff(want, account); diff != "" || err != nil || !account.HasPassword() {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
}

func TestTheAccountOfAControlPlaneIsItsApplicationCredential(t *testing.T) {
	const clouds = "clouds: {admin: {auth: {application_credential_id: an-id, application_credential_secret: hidden}}}"
	account, err := Parse([]byte(clouds), "admin")
	if err != nil || account.HasPassword() || account.CredentialID != "an-id" || string(account.CredentialSecret) != "hidden" {
		t.Errorf("got %v, %v", account, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", account, account, account); strings.Contains(text, "hidden") {
		t.Errorf("the secret is printed: %s", text)
	}
}

func TestACloudsFileWithoutAnAccountIsRefusedWithoutItsContent(t *testing.T) {
	for _, clouds := range []string{
		"hidden: [", "clouds: {other: {auth: {username: a, password: hidden}}}", "clouds: {admin: {auth: {password: hidden}}}",
		"clouds: {admin: {auth: {username: a}}}", "clouds: {admin: {auth: {application_credential_secret: hidden}}}", "clouds: hidden", "",
	} {
		if _, err := Parse([]byte(clouds), "admin"); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v", clouds, err)
		}
	}
}

func TestAnAnswerThatDoesNotComeIsSaid(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("no answer in time"))
	defer cancel()
	client := Client{HTTP: server.Client(), URL: server.URL}
	if _, err := client.Catalog(ctx, Token{}); err == nil || err.Error() != "GET "+server.URL+"/auth/catalog: no answer in time" {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerThatIsNotKeystonesIsSaid(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") }))
	t.Cleanup(server.Close)
	client := Client{HTTP: server.Client(), URL: server.URL + "/"}
	if _, err := client.Catalog(t.Context(), Token{}); err == nil || !strings.Contains(err.Error(), "not what the Identity API gives") {
		t.Errorf("got %v", err)
	}
}

func TestALongMessageIsShortened(t *testing.T) {
	if got := []rune(shortened(strings.Repeat("ü ", 1000))); len(got) != maxMessage+1 {
		t.Errorf("got %d characters", len(got))
	}
}
