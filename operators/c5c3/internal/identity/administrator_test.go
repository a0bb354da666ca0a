package identity

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// identityAPI answers logins with the password, and deletions of application
// credentials with a status.
func identityAPI(t *testing.T, password string, deletion int) (url string, deleted *string) {
	t.Helper()
	deleted = new(string)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"password":"`+password+`"`) || !strings.Contains(string(body), `"project":`) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Subject-Token", "the-token")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"token":{"user":{"id":"the-admin"}}}`)
	})
	mux.HandleFunc("DELETE /v3/users/the-admin/application_credentials/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") == "the-token" {
			*deleted = r.PathValue("id")
		}
		w.WriteHeader(deletion)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/v3", deleted
}

func TestRevokeSucceedsIfTheCredentialIsDeletedOrNotFound(t *testing.T) {
	for status, want := range map[int]bool{
		http.StatusNoContent: true, http.StatusNotFound: true, http.StatusForbidden: false, http.StatusServiceUnavailable: false,
	} {
		url, deleted := identityAPI(t, "s3cret", status)
		err := NewAdministrator(nil).Revoke(t.Context(), url, "s3cret", "the-id")
		if (err == nil) != want || *deleted != "the-id" {
			t.Errorf("status %d: %q was deleted with %v", status, *deleted, err)
		}
	}
}

func TestRevokeWithAWrongPasswordFailsWithoutQuotingIt(t *testing.T) {
	url, deleted := identityAPI(t, "s3cret", http.StatusNoContent)
	err := NewAdministrator(nil).Revoke(t.Context(), url, "wr0ng", "the-id")
	if !errors.Is(err, ErrPassword) || strings.Contains(err.Error(), "wr0ng") || *deleted != "" {
		t.Errorf("%q was deleted with %v", *deleted, err)
	}
}

// The operator of Keystone makes sure once an hour that the administrator can log in, and
// a control plane whose Keystone is not ready asks for nothing of this.
func TestARefusedPasswordIsSentAtMostOnceAnHourForAllRequests(t *testing.T) {
	api, now := newStaffAPI(t), fixture.Noon
	a := NewAdministrator(func() time.Time { return now })
	tries := []func(context.Context) error{
		func(ctx context.Context) error {
			_, _, err := a.FindEndpoint(ctx, api.url, "wr0ng", "RegionOne", Endpoint{})
			return err
		},
		func(ctx context.Context) error { return a.Revoke(ctx, api.url, "wr0ng", "id") },
		func(ctx context.Context) error { return a.DeleteUser(ctx, api.url, "wr0ng", "id") },
		func(ctx context.Context) error { _, err := a.Enrol(ctx, api.url, "wr0ng", member); return err },
		func(ctx context.Context) error {
			_, err := a.SetEndpoints(ctx, api.url, Credential{}, "wr0ng", "RegionOne", []Endpoint{{ID: "one"}})
			return err
		},
	}
	sent := map[time.Duration]int{}
	for now.Before(fixture.Noon.Add(48 * time.Hour)) {
		before := api.admins
		for _, try := range tries {
			if err := try(t.Context()); !errors.Is(err, ErrPassword) || strings.Contains(err.Error(), "wr0ng") {
				t.Fatalf("got %v", err)
			}
		}
		if n := api.admins - before; n > 0 {
			sent[now.Sub(fixture.Noon)] = n
		}
		now = now.Add(10 * time.Minute)
	}
	want := map[time.Duration]int{
		0: 1, time.Hour: 1, 3 * time.Hour: 1, 7 * time.Hour: 1, 15 * time.Hour: 1, 31 * time.Hour: 1, 47 * time.Hour: 1,
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("when the password was sent (-want +got):\n%s", diff)
	}
}

func TestACorrectedPasswordIsSentAtOnce(t *testing.T) {
	api := newStaffAPI(t)
	a := NewAdministrator(func() time.Time { return fixture.Noon })
	for i, step := range []struct {
		password string
		admins   int
		deleted  string
	}{{"wr0ng", 1, ""}, {"wr0ng", 1, ""}, {"wr0ng too", 2, ""}, {"adm1n", 3, "the-user"}, {"wr0ng too", 4, "the-user"}} {
		err := a.DeleteUser(t.Context(), api.url, step.password, "the-user")
		if (err == nil) != (step.password == "adm1n") || api.admins != step.admins || api.deleted != step.deleted {
			t.Errorf("step %d: %v after %d logins, %q is deleted", i, err, api.admins, api.deleted)
		}
	}
}

func TestARefusedPasswordIsRememberedPerKeystone(t *testing.T) {
	one, two := newStaffAPI(t), newStaffAPI(t)
	a := NewAdministrator(nil)
	for _, api := range []*staffAPI{one, two} {
		_ = a.DeleteUser(t.Context(), api.url, "wr0ng", "the-user")
		if api.admins != 1 {
			t.Errorf("%s was asked %d times", api.url, api.admins)
		}
	}
}

func TestAnUnavailableKeystoneIsNotAPasswordRefusal(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	a := NewAdministrator(nil)
	for range 2 {
		if err := a.Revoke(t.Context(), server.URL, "adm1n", "id"); err == nil || errors.Is(err, ErrPassword) {
			t.Errorf("got %v", err)
		}
	}
	if asked != 2 {
		t.Errorf("it was asked %d times", asked)
	}
}

func TestDeleteUserSucceedsIfTheUserIsDeletedOrNotFound(t *testing.T) {
	for status, want := range map[int]bool{
		http.StatusNoContent: true, http.StatusNotFound: true, http.StatusForbidden: false, http.StatusServiceUnavailable: false,
	} {
		api := newStaffAPI(t)
		api.status = status
		err := NewAdministrator(nil).DeleteUser(t.Context(), api.url, "adm1n", "the-user")
		if (err == nil) != want || api.deleted != "the-user" {
			t.Errorf("status %d: %q was deleted with %v", status, api.deleted, err)
		}
	}
}
