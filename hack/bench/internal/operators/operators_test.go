package operators

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestResourcesAreSpreadOverNamespaces(t *testing.T) {
	want := []client.ObjectKey{
		{Namespace: "bench-0", Name: "keystone-0"}, {Namespace: "bench-0", Name: "keystone-1"}, {Namespace: "bench-1", Name: "keystone-0"},
	}
	if diff := cmp.Diff(want, Keystones.Keys("bench", 3, 2)); diff != "" {
		t.Errorf("keys of Keystones (-want +got):\n%s", diff)
	}
	want = []client.ObjectKey{{Namespace: "bench-0", Name: "controlplane-0"}, {Namespace: "bench-1", Name: "controlplane-0"}}
	if diff := cmp.Diff(want, ControlPlanes.Keys("bench", 2, 2)); diff != "" {
		t.Errorf("keys of ControlPlanes, of which a namespace has one (-want +got):\n%s", diff)
	}
}

func TestKeystonesOfTheBenchAreValidAndShareNoDatabase(t *testing.T) {
	databases := map[string]bool{}
	for _, key := range Keystones.Keys("bench", 20, 5) {
		k := brownfield(key)
		keystonev1alpha1.SetDefaults(k)
		if err := keystonev1alpha1.Validate(k).ToAggregate(); err != nil {
			t.Fatal(err)
		}
		databases[k.Spec.Database.Identity(cluster.Settings{}, k.Namespace).String()] = true
	}
	if len(databases) != 20 {
		t.Errorf("20 Keystones have %d databases", len(databases))
	}
}

func TestSpoilMakesAResourceInvalidAndMendMakesItValid(t *testing.T) {
	problems := func(r Resource) error {
		switch r := r.(type) {
		case *keystonev1alpha1.Keystone:
			keystonev1alpha1.SetDefaults(r)
			return keystonev1alpha1.Validate(r).ToAggregate()
		case *c5c3v1alpha1.ControlPlane:
			c5c3v1alpha1.SetDefaults(r)
			return c5c3v1alpha1.Validate(r).ToAggregate()
		}
		return fmt.Errorf("%T is not known here", r)
	}
	for _, o := range All {
		r := o.New(o.Keys("bench", 1, 1)[0])
		if err := problems(r); err != nil {
			t.Errorf("new: %v", err)
		}
		o.Grow(r)
		if err := problems(r); err != nil {
			t.Errorf("with another replica: %v", err)
		}
		if o.Spoil == nil {
			continue
		}
		o.Spoil(r)
		if err := problems(r); err == nil {
			t.Errorf("a spoilt %s is valid", o.Kind)
		}
		o.Mend(r)
		if err := problems(r); err != nil {
			t.Errorf("mended: %v", err)
		}
	}
}

func TestAnOperatorThatTheBenchDoesNotKnowIsRefused(t *testing.T) {
	for _, o := range All {
		if found, err := Find(o.Name); err != nil || found != o {
			t.Errorf("%s is not found (%v)", o.Name, err)
		}
	}
	if _, err := Find("placement"); err == nil || !strings.Contains(err.Error(), "use keystone, c5c3, openstack") {
		t.Errorf("got %v, want an error with the operators that there are", err)
	}
}

func TestTheFakeKeystoneIssuesTokensForKnownCredentialsOnly(t *testing.T) {
	s := NewStandins()
	id := s.KORC.Add("bench-0", "ApplicationCredential", "admin")
	endpoint := s.KORC.Add("bench-0", "Endpoint", "public http://keystone")
	ask := func(namespace, method, path, id string) *httptest.ResponseRecorder {
		body := `{"auth":{"identity":{"methods":["application_credential"],"application_credential":{"id":"` + id + `","secret":""}}}}`
		request := httptest.NewRequest(method, "http://controlplane-0-keystone."+namespace+".svc:5000"+path, strings.NewReader(body))
		answer := httptest.NewRecorder()
		s.answerLogin(answer, request)
		return answer
	}
	got := ask("bench-0", http.MethodPost, "/v3/auth/tokens", id)
	want := `{"token":{"catalog":[{"endpoints":[{"id":"` + endpoint +
		`","interface":"public","region_id":"RegionOne","url":"http://keystone"}]}]}}` + "\n"
	if got.Code != http.StatusCreated || got.Header().Get("X-Subject-Token") == "" || got.Body.String() != want {
		t.Errorf("a login is answered with %d and %s, want %s", got.Code, got.Body, want)
	}
	for name, code := range map[string]int{
		"another credential": ask("bench-0", http.MethodPost, "/v3/auth/tokens", "unknown").Code,
		"another Keystone":   ask("bench-1", http.MethodPost, "/v3/auth/tokens", id).Code,
	} {
		if code != http.StatusUnauthorized {
			t.Errorf("a login with or at %s is answered with %d", name, code)
		}
	}
	if code := ask("bench-0", http.MethodGet, "/v3/endpoints/"+endpoint, id).Code; code != http.StatusNotFound {
		t.Errorf("a request that nobody needs is answered with %d", code)
	}
}

func TestARunningFakePodIsReady(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "keystone"}}}}
	setRunning(pod)
	if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) != 1 || !pod.Status.ContainerStatuses[0].Ready {
		t.Errorf("its status is %+v", pod.Status)
	}
}
