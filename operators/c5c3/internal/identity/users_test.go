package identity

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/ask"
)

var member = ServiceUser{ID: "the-user", Password: "s3cret", ProjectID: "the-project", RoleID: "the-role"}

// staffAPI simulates a Keystone with an administrator and the user of a service.
type staffAPI struct {
	url string
	// password is the user's password, granted the roles that were assigned.
	password string
	granted  bool
	// logins are how often the user has logged in, admins how often somebody has tried
	// to as the administrator, and deleted who was deleted.
	logins, admins int
	deleted        string
	// status is the answer to an assignment and to a deletion.
	status int
}

func newStaffAPI(t *testing.T) *staffAPI {
	t.Helper()
	api := &staffAPI{password: member.Password, status: http.StatusNoContent}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/auth/tokens", api.logIn)
	mux.HandleFunc("PUT /v3/projects/the-project/users/the-user/roles/the-role", func(w http.ResponseWriter, r *http.Request) {
		api.granted = api.granted || r.Header.Get("X-Auth-Token") == "the-admin" && api.status == http.StatusNoContent
		w.WriteHeader(api.status)
	})
	mux.HandleFunc("DELETE /v3/users/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") == "the-admin" {
			api.deleted = r.PathValue("id")
		}
		w.WriteHeader(api.status)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	api.url = server.URL + "/v3"
	return api
}

func (api *staffAPI) logIn(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	token, role := "", "another-role"
	switch text := string(body); {
	case strings.Contains(text, `"name":"admin"`) && strings.Contains(text, `"user":`):
		api.admins++
		if strings.Contains(text, `"password":"adm1n"`) {
			token = "the-admin"
		}
	case strings.Contains(text, `"id":"the-user"`):
		api.logins++
		if strings.Contains(text, `"password":"`+api.password+`"`) && strings.Contains(text, `"project":{"id":"the-project"}`) {
			token = "the-users"
		}
		if api.granted {
			role = member.RoleID
		}
	}
	if token == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("X-Subject-Token", token)
	w.WriteHeader(http.StatusCreated)
	_, _ = fmt.Fprintf(w, `{"token":{"user":{"id":%q},"roles":[{"id":%q}]}}`, token, role)
}

func TestAUserWithItsRoleIsAcceptedWithoutAnAdministratorLogin(t *testing.T) {
	api := newStaffAPI(t)
	api.granted = true
	if got, err := NewAdministrator(nil).Enrol(t.Context(), api.url, "wr0ng", member); got != ask.Accepted || err != nil || api.logins != 1 {
		t.Errorf("got %v and %v after %d logins", got, err, api.logins)
	}
}

func TestAUserWithoutItsRoleGetsIt(t *testing.T) {
	api := newStaffAPI(t)
	if got, err := NewAdministrator(nil).Enrol(t.Context(), api.url, "adm1n", member); got != ask.Accepted || err != nil || !api.granted {
		t.Errorf("got %v and %v", got, err)
	}
}

func TestAUserWithAnotherPasswordIsRejected(t *testing.T) {
	api := newStaffAPI(t)
	api.password = "another"
	if got, err := NewAdministrator(nil).Enrol(t.Context(), api.url, "adm1n", member); got != ask.Rejected || err != nil {
		t.Errorf("got %v and %v", got, err)
	}
}

func TestAFailedRoleAssignmentIsUnprovenAndQuotesNoPassword(t *testing.T) {
	for admin, status := range map[string]int{"wr0ng": http.StatusNoContent, "adm1n": http.StatusForbidden} {
		api := newStaffAPI(t)
		api.status = status
		got, err := NewAdministrator(nil).Enrol(t.Context(), api.url, admin, member)
		if got != ask.Unproven || err == nil || strings.Contains(err.Error(), admin) || strings.Contains(err.Error(), member.Password) {
			t.Errorf("%s: got %v and %v", admin, got, err)
		}
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	if got, err := NewAdministrator(nil).Enrol(t.Context(), closed.URL, "adm1n", member); got != ask.Unproven || err == nil {
		t.Errorf("got %v and %v", got, err)
	}
}
