package verify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

const (
	password = `pass"word\ of ü`
	secret   = "secret-of-the-credential"
)

// network reaches everything directly, and pretends that there are pods.
type network []string

func (n network) Client() *http.Client { return n.ClientOf("") }

func (n network) ClientOf(pod string) *http.Client {
	return &http.Client{
		Transport:     toPod(pod),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (n network) Pods(context.Context, string) ([]string, error) { return n, nil }

// toPod sends the name of a pod along.
type toPod string

func (p toPod) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("X-Pod", string(p))
	return http.DefaultTransport.RoundTrip(request)
}

// newAPI is a Keystone with an endpoint for each interface.
func newAPI(t *testing.T) *testutil.KeystoneAPI {
	t.Helper()
	api := (&testutil.KeystoneAPI{Password: password, CredentialSecret: secret}).Serve(t)
	api.Catalog = map[string]string{"identity public": api.URL, "identity internal": api.URL}
	return api
}

// planFor tests the API.
func planFor(api *testutil.KeystoneAPI) Plan {
	now := testutil.Now
	return Plan{
		Target: inventory.Ref{Kind: inventory.KindKeystone, Namespace: testutil.Namespace, Name: "keystone"},
		URL:    api.URL,
		Administrator: Login{Secret: "keystone-admin", Account: gophercloud.AuthOptions{
			Username: "admin", DomainName: "Default", Password: password, TenantName: "admin",
		}},
		Types: []string{TypeIdentity}, Project: "forge-verify-x", Network: network{"keystone-0"},
		Show: func(Step) {},
		Clock: func() time.Time {
			now = now.Add(100 * time.Millisecond)
			return now
		},
	}
}

// results are the names of the checks with their results.
func results(r Report) []string {
	found := make([]string, 0, len(r.Checks))
	for _, step := range r.Checks {
		found = append(found, fmt.Sprintf("%s: %s", step.Name, step.Result))
	}
	return found
}

// expect runs the plan, and compares the results of its checks.
func expect(t *testing.T, plan Plan, want ...string) Report {
	t.Helper()
	report, err := plan.Run(t.Context())
	if err != nil {
		t.Errorf("got the error %v", err)
	}
	if diff := cmp.Diff(want, results(report)); diff != "" {
		t.Errorf("the checks (-want +got):\n%s\n%+v", diff, report)
	}
	return report
}

// textOf returns what a check says.
func textOf(t *testing.T, r Report, name string) string {
	t.Helper()
	for _, step := range r.Checks {
		if step.Name == name {
			return step.Text
		}
	}
	t.Fatalf("there is no check %s in %v", name, results(r))
	return ""
}

func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

func TestAWorkingKeystonePassesEveryCheck(t *testing.T) {
	api := newAPI(t)
	var shown []Step
	plan := planFor(api)
	plan.Show = func(step Step) { shown = append(shown, step) }
	report := expect(t, plan, "Login: OK", "Token: OK", "Catalog: OK", "Endpoint identity internal RegionOne: OK",
		"Endpoint identity public RegionOne: OK", "Create project: OK", "Delete project: OK")
	if !report.Passed || report.Seconds != 1.5 || report.Checks[0].Seconds != 0.1 {
		t.Errorf("got %+v", report)
	}
	if diff := cmp.Diff(report.Checks, shown); diff != "" {
		t.Errorf("what was shown (-want +got):\n%s", diff)
	}
	if left := api.Projects(); len(left) > 0 {
		t.Errorf("the projects %v are left", left)
	}
}

func TestAnApplicationCredentialLogsInToo(t *testing.T) {
	api := newAPI(t)
	plan := planFor(api)
	credential := func(secret string) *Login {
		return &Login{Secret: "k-orc-clouds-yaml", Account: gophercloud.AuthOptions{
			ApplicationCredentialID: "an-id", ApplicationCredentialSecret: secret,
		}}
	}
	plan.Credential = credential(secret)
	report, err := plan.Run(t.Context())
	if err != nil || !report.Passed || results(report)[1] != "Application credential: OK" {
		t.Errorf("got %v, %v", results(report), err)
	}
	plan.Credential = credential("revoked")
	report, err = plan.Run(t.Context())
	if err != nil || report.Passed || report.Failed() != 1 {
		t.Errorf("got %v, %v", results(report), err)
	}
	says(t, textOf(t, report, "Application credential"), "HTTP status 401", "Secret k-orc-clouds-yaml")
	plan.Credential = &plan.Administrator
	report, _ = plan.Run(t.Context())
	says(t, textOf(t, report, "Application credential"), "still holds the administrator's password")
}

func TestARejectedPasswordIsTriedOnceAndStopsTheChecks(t *testing.T) {
	api := newAPI(t)
	api.Password = "another"
	report := expect(t, planFor(api), "Login: Failed", "Token: Unknown", "Catalog: Unknown", "Create project: Unknown",
		"Delete project: Unknown")
	says(t, textOf(t, report, "Login"), "HTTP status 401", "Secret keystone-admin", `"kubectl forge status keystone/keystone -n openstack"`)
	if got := api.Requests(); !slices.Equal(got, []string{"POST /v3/auth/tokens"}) {
		t.Errorf("the requests are %v", got)
	}
}

func TestAUserWithASecondFactorIsTold(t *testing.T) {
	api := newAPI(t)
	api.Before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Openstack-Auth-Receipt", "a-receipt")
		testutil.Refuse(w, http.StatusUnauthorized, "more")
		return true
	}
	report, _ := planFor(api).Run(t.Context())
	says(t, textOf(t, report, "Login"), "Secret keystone-admin is right", "another factor")
}

func TestATokenIsValidatedByEachPod(t *testing.T) {
	api := newAPI(t)
	plan := planFor(api)
	plan.Network = network{"keystone-0", "keystone-1"}
	report, _ := plan.Run(t.Context())
	says(t, textOf(t, report, "Token"), "valid until 2026-11-23T13:00:00Z, for each of 2 pods")
	api.Before = func(w http.ResponseWriter, r *http.Request) bool {
		broken := r.Header.Get("X-Pod") == "keystone-1"
		if broken {
			testutil.Refuse(w, http.StatusNotFound, "Could not find token: "+r.Header.Get("X-Subject-Token"))
		}
		return broken
	}
	report, _ = plan.Run(t.Context())
	says(t, textOf(t, report, "Token"), "pod keystone-1: ", "Could not find token: ***")
}

func TestAnAPIErrorNamesTheFailedBackend(t *testing.T) {
	api := newAPI(t)
	api.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		w.Header().Set("X-Forge-Failed-Part", "database")
		testutil.Refuse(w, http.StatusInternalServerError, "the password is "+password)
		return true
	}
	report, _ := planFor(api).Run(t.Context())
	says(t, textOf(t, report, "Login"), "HTTP status 500; it cannot use its database")
}

func TestTheCatalogMustContainTheServicesOfTheTarget(t *testing.T) {
	plan := planFor(newAPI(t))
	plan.Types = []string{TypeIdentity, TypePlacement}
	report, err := plan.Run(t.Context())
	if err != nil || report.Failed() != 1 {
		t.Errorf("got %v, %v", results(report), err)
	}
	says(t, textOf(t, report, "Catalog"), "no endpoint of type placement, only 2 endpoints of identity")
}

func TestOnlyTheChosenInterfacesAreTested(t *testing.T) {
	plan := planFor(newAPI(t))
	plan.Interfaces = []string{"public"}
	report := expect(t, plan, "Login: OK", "Token: OK", "Catalog: OK", "Endpoint identity public RegionOne: OK",
		"Create project: OK", "Delete project: OK")
	says(t, textOf(t, report, "Catalog"), "2 endpoints of identity, 1 of them with interface public")
	plan.Interfaces = []string{"admin"}
	report, _ = plan.Run(t.Context())
	says(t, textOf(t, report, "Catalog"), "none to test: 2 endpoints of identity, 0 of them with interface admin")
}

// forbidding is a network in which the user may forward no port.
type forbidding struct{ network }

func (forbidding) Pods(context.Context, string) ([]string, error) {
	return nil, kube.MissingRightError("list pods in namespace elsewhere")
}

func TestAMissingPermissionMakesACheckUnknown(t *testing.T) {
	plan := planFor(newAPI(t))
	plan.Network = forbidding{}
	report, err := plan.Run(t.Context())
	if !kube.IsMissingRight(err) || report.Passed || report.Checks[1].Result != check.Unknown {
		t.Errorf("got %v, %v", results(report), err)
	}
	says(t, textOf(t, report, "Token"), "you may not list pods in namespace elsewhere")
}

func TestNoSecretIsShown(t *testing.T) {
	for name, before := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"nothing fails": nil,
		"all is quoted": func(w http.ResponseWriter, r *http.Request) bool {
			testutil.Refuse(w, http.StatusBadRequest, fmt.Sprintf("%s %s %v", password, secret, r.Header))
			return true
		},
		"all but a login is quoted": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/tokens") {
				return false
			}
			testutil.Refuse(w, http.StatusBadRequest, fmt.Sprintf("not allowed for %v", r.Header))
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := newAPI(t)
			api.Before = before
			plan := planFor(api)
			plan.Credential = &Login{Account: gophercloud.AuthOptions{
				ApplicationCredentialID: "an-id", ApplicationCredentialSecret: secret,
			}}
			report, err := plan.Run(t.Context())
			text := fmt.Sprintf("%+v %v %+v", report, err, plan)
			for _, hidden := range []string{password, secret, testutil.ProjectToken, testutil.SystemToken} {
				if strings.Contains(text, hidden) {
					t.Errorf("%q is in %s", hidden, text)
				}
			}
		})
	}
}
