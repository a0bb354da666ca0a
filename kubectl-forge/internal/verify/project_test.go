package verify

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

// when answers the requests with the method and the path otherwise.
func when(request string, answer func(w http.ResponseWriter, r *http.Request)) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method+" "+r.URL.Path != request {
			return false
		}
		answer(w, r)
		return true
	}
}

// broken answers with an error.
func broken(w http.ResponseWriter, _ *http.Request) {
	testutil.Refuse(w, http.StatusInternalServerError, "An unexpected error prevented the server from fulfilling your request.")
}

func noneLeft(t *testing.T, api *testutil.KeystoneAPI) {
	t.Helper()
	if left := api.Projects(); len(left) > 0 {
		t.Errorf("the projects %v are left", left)
	}
}

func TestAProjectIsDeletedAfterAFailure(t *testing.T) {
	api := newAPI(t)
	api.Before = when("GET /v3/projects/id-1", broken)
	report, err := planFor(api).Run(t.Context())
	if err != nil || report.Passed {
		t.Errorf("got %v, %v", results(report), err)
	}
	says(t, textOf(t, report, "Create project"), "HTTP status 500")
	noneLeft(t, api)
}

func TestAProjectIsDeletedAfterAnInterrupt(t *testing.T) {
	for _, request := range []string{"POST /v3/projects", "GET /v3/projects/id-1", "DELETE /v3/projects/id-1"} {
		t.Run(request, func(t *testing.T) {
			api := newAPI(t)
			ctx, interrupt := context.WithCancel(t.Context())
			api.Before = when(request, func(w http.ResponseWriter, r *http.Request) {
				interrupt()
				api.Answer(w, r)
			})
			report, err := planFor(api).Run(ctx)
			if !errors.Is(err, context.Canceled) || report.Passed {
				t.Errorf("got %+v, %v", report, err)
			}
			noneLeft(t, api)
			// An answer that was awaited makes it unnecessary to look for the project, or to delete it again.
			asked := api.Requests()
			deleted := slices.Index(asked, "DELETE /v3/projects/id-1")
			if slices.Contains(asked, "GET /v3/projects") || slices.Contains(asked[deleted+1:], asked[deleted]) {
				t.Errorf("the requests are %v", asked)
			}
		})
	}
}

// drop closes the connection without an answer.
func drop(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_ = connection.Close()
}

func TestAProjectWhoseCreationWasNotAnsweredIsFoundAndDeleted(t *testing.T) {
	api := newAPI(t)
	api.Before = when("POST /v3/projects", func(w http.ResponseWriter, r *http.Request) {
		api.Answer(httptest.NewRecorder(), r)
		drop(t, w)
	})
	report, err := planFor(api).Run(t.Context())
	if err != nil || report.Failed() != 2 {
		t.Errorf("got %v, %v", results(report), err)
	}
	if !slices.Contains(api.Requests(), "DELETE /v3/projects/id-1") {
		t.Errorf("the requests are %v", api.Requests())
	}
	noneLeft(t, api)
}

func TestAProjectThatCannotBeDeletedIsNamed(t *testing.T) {
	api := newAPI(t)
	api.Before = when("DELETE /v3/projects/id-1", broken)
	report := expect(t, planFor(api), "Login: OK", "Token: OK", "Catalog: OK", "Endpoint identity internal RegionOne: OK",
		"Endpoint identity public RegionOne: OK", "Create project: OK", "Delete project: Failed", "Clean up: Failed")
	says(t, textOf(t, report, "Clean up"), "project forge-verify-x may be left",
		`"kubectl forge login keystone/keystone -n openstack -- openstack project delete --domain 'Default' forge-verify-x"`)
}

func TestALeftoverProjectIsReportedAfterAnInterrupt(t *testing.T) {
	api := newAPI(t)
	ctx, interrupt := context.WithCancel(t.Context())
	api.Before = when("DELETE /v3/projects/id-1", func(w http.ResponseWriter, r *http.Request) {
		interrupt()
		broken(w, r)
	})
	_, err := planFor(api).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	says(t, err.Error(), "project forge-verify-x may be left")
}

func TestAProjectThatStaysAfterItsDeletionIsAFailure(t *testing.T) {
	api := newAPI(t)
	api.Before = when("DELETE /v3/projects/id-1", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	report, _ := planFor(api).Run(t.Context())
	says(t, textOf(t, report, "Delete project"), "project id-1 is still there after its deletion")
}

func TestASystemScopedTokenIsUsedWhereAProjectScopeIsRefused(t *testing.T) {
	for _, request := range []string{"POST /v3/projects", "GET /v3/projects/id-1", "DELETE /v3/projects/id-1"} {
		t.Run(request, func(t *testing.T) {
			api := newAPI(t)
			api.SystemOnly = []string{request}
			report, err := planFor(api).Run(t.Context())
			if err != nil || !report.Passed {
				t.Errorf("got %+v, %v", report, err)
			}
			noneLeft(t, api)
		})
	}
}

func TestTheUseOfSystemScopeIsReported(t *testing.T) {
	api := newAPI(t)
	api.SystemOnly = []string{"POST /v3/projects"}
	report, _ := planFor(api).Run(t.Context())
	says(t, textOf(t, report, "Create project"), "forge-verify-x in domain Default, as administrator of the system")
}

func TestAForbiddenProjectIsNotSearchedForCleanup(t *testing.T) {
	api := newAPI(t)
	api.Before = when("POST /v3/projects", func(w http.ResponseWriter, _ *http.Request) {
		testutil.Refuse(w, http.StatusForbidden, "You are not authorized to perform the requested action: identity:create_project.")
	})
	report, err := planFor(api).Run(t.Context())
	if err != nil || report.Failed() != 2 || report.Checks[len(report.Checks)-1].Result != check.Unknown {
		t.Errorf("got %v, %v", results(report), err)
	}
	says(t, textOf(t, report, "Create project"), "HTTP status 403: You are not authorized", "identity:create_project")
	if slices.Contains(api.Requests(), "GET /v3/projects") {
		t.Error("a project that cannot exist was looked for")
	}
}
