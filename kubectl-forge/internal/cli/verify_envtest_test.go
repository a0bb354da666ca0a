//go:build integration

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/certificate"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/reach"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	"github.com/c5c3/forge/kubectl-forge/internal/verify"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// serving stores the Service and a pod of the Keystone, with an API that the user reaches when a port of
// the pod is forwarded.
func serving(t *testing.T, u *user, k *keystonev1alpha1.Keystone) *testutil.KeystoneAPI {
	t.Helper()
	api := (&testutil.KeystoneAPI{Password: password, CredentialSecret: "a-secret"}).Serve(t)
	address := strings.TrimSuffix(strings.TrimPrefix(api.URL, "http://"), "/v3")
	api.Catalog = map[string]string{
		"identity internal": "http://" + k.Name + "." + u.namespace + ".svc.cluster.local:5000/v3", "identity public": api.URL,
	}
	u.options = append(u.options, WithForward(func(context.Context, string, string, int32) (string, error) { return address, nil }))
	storeSecret(t, u.namespace, "keystone-admin", "password", password)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: k.Name},
		Spec: corev1.ServiceSpec{
			Selector: keystonev1alpha1.SelectorLabels(k.Name), Ports: []corev1.ServicePort{{Port: keystonev1alpha1.APIPort}},
		},
	}
	if err := admin.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	pod := testutil.APIPod(k, k.Name+"-0", true, testutil.Running("keystone", true))
	pod.Spec.Containers = []corev1.Container{{Name: "keystone", Image: "keystone"}}
	store(t, u.namespace, &pod)
	return api
}

func TestAKeystoneIsVerified(t *testing.T) {
	u := as(t, "verifier")
	api := serving(t, &u, readyKeystone(t, u.namespace))
	r := u.run(t, "verify")
	r.expect(t, CodeOK, "OK       Login ", "OK       Endpoint identity internal RegionOne ", "OK       Delete project ",
		"keystone/keystone in namespace "+u.namespace+": all 7 checks passed in ")
	if strings.Contains(r.String(), password) || len(api.Projects()) > 0 {
		t.Errorf("the projects %v are left, and the output is\n%s", api.Projects(), r)
	}
	var fromJSON, fromYAML verify.Report
	if err := json.Unmarshal([]byte(u.run(t, "verify", "-o", "json").out), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(u.run(t, "verify", "-o", "yaml").out), &fromYAML); err != nil {
		t.Fatal(err)
	}
	for _, report := range []verify.Report{fromJSON, fromYAML} {
		if !report.Passed || len(report.Checks) != 7 || report.Target.Name != "keystone" {
			t.Errorf("got %+v", report)
		}
	}
}

func TestAFailedCheckIsInTheExitCode(t *testing.T) {
	u := as(t, "verifier")
	api := serving(t, &u, readyKeystone(t, u.namespace))
	api.Catalog["identity admin"] = "http://keystone." + u.namespace + ".svc:35357/v3"
	r := u.run(t, "verify")
	r.expect(t, CodeNotReady, "Failed   Endpoint identity admin RegionOne ", "service keystone in namespace "+u.namespace+" has no port 35357",
		"1 of 8 checks did not pass")
	u.run(t, "verify", "--interface", "public,internal").expect(t, CodeOK, "all 7 checks passed")
	api.Password = "another"
	r = u.run(t, "verify", "-o", "json")
	r.expect(t, CodeNotReady, `"passed": false`, `not checked: \"Login\" did not pass`)
	if strings.Contains(r.String(), password) {
		t.Errorf("the password is in\n%s", r)
	}
}

func TestAControlPlaneIsVerifiedWithItsApplicationCredential(t *testing.T) {
	u := as(t, "verifier")
	cp := testutil.ControlPlane(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
	store(t, u.namespace, cp)
	k := testutil.Installed(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	k.Name = cp.KeystoneName()
	api := serving(t, &u, store(t, u.namespace, k))
	u.run(t, "verify", "controlplane/controlplane").expect(t, CodeNotReady, "secret k-orc-clouds-yaml has no key clouds.yaml yet")
	storeSecret(t, u.namespace, "k-orc-clouds-yaml", "clouds.yaml",
		"clouds: {admin: {auth: {application_credential_id: an-id, application_credential_secret: a-secret}}}")
	u.run(t, "verify", "controlplane/controlplane").expect(t, CodeNotReady, "OK       Application credential ",
		"Failed   Catalog ", "there is no endpoint of type placement")
	api.Catalog["placement internal"] = api.URL
	u.run(t, "verify", "controlplane/controlplane").expect(t, CodeNotReady, "OK       Catalog ",
		"/resource_classes answers a request of the administrator with HTTP status 404")
}

func TestAnInterruptedVerificationLeavesNoProject(t *testing.T) {
	u := as(t, "verifier")
	api := serving(t, &u, readyKeystone(t, u.namespace))
	ctx, interrupt := context.WithCancel(t.Context())
	api.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method+r.URL.Path == "POST/v3/projects" {
			interrupt()
		}
		return false
	}
	u.runUntil(ctx, "verify").expect(t, CodeInterrupted, "OK       Catalog ")
	if left := api.Projects(); len(left) > 0 || !slices.Contains(api.Requests(), "DELETE /v3/projects/id-1") {
		t.Errorf("the projects %v are left after %v", left, api.Requests())
	}
}

func TestAnAddressReplacesTheForwardedPort(t *testing.T) {
	u := as(t, "verifier")
	api := serving(t, &u, readyKeystone(t, u.namespace))
	u.options = []Option{WithForward(func(_ context.Context, _, pod string, _ int32) (string, error) {
		t.Errorf("a port of %s was forwarded", pod)
		return "", nil
	})}
	u.run(t, "verify", "--address", api.URL, "--interface", "public").expect(t, CodeOK, "all 6 checks passed")
}

func TestAVerificationNamesTheRightThatIsMissing(t *testing.T) {
	viewer := as(t, "viewer")
	k := readyKeystone(t, viewer.namespace)
	viewer.run(t, "verify").expect(t, CodeMissingRight, "you may not get secrets in namespace "+viewer.namespace)
	u := in(t, viewer.namespace, "operator")
	serving(t, &u, k)
	u.run(t, "verify").expect(t, CodeMissingRight, "Unknown  Login ", "you may not get services in namespace "+u.namespace)
}

func TestForwardingAPortNeedsAPermission(t *testing.T) {
	u := as(t, "operator")
	forward := reach.Through(t.Context(), u.session)
	_, err := forward(t.Context(), u.namespace, "keystone-0", keystonev1alpha1.APIPort)
	want := kube.MissingRightError("create pods/portforward in namespace " + u.namespace)
	if missing, _ := errors.AsType[kube.MissingRightError](err); missing != want {
		t.Errorf("got %v", err)
	}
}

func TestBadFlagsOfAVerificationAreRefused(t *testing.T) {
	u := as(t, "verifier")
	u.run(t, "verify", "--interface", "private").expect(t, CodeUsage, "choose public, internal, admin")
	u.run(t, "verify", "--os-cacert", "/nowhere/ca.crt").expect(t, CodeUsage, "/nowhere/ca.crt")
	path := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run(t, "verify", "--os-cacert", path).expect(t, CodeUsage, "ca.crt holds no certificate in PEM")
	authority, _ := certificate.SelfSigned(t)
	if err := os.WriteFile(path, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	u.run(t, "verify", "--os-cacert", path).expect(t, CodeError, "there is no ControlPlane and no service in namespace "+u.namespace)
}
