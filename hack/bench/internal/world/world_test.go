package world

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/standin"
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
		databases[k.Spec.Database.Key(cluster.Settings{}, k.Namespace)] = true
	}
	if len(databases) != 20 {
		t.Errorf("20 Keystones have %d databases", len(databases))
	}
}

func TestEachKeystoneIsFoundUnderItsNameAtOneAddress(t *testing.T) {
	for o, want := range map[*Operator]string{
		Keystones: "127.0.0.1 localhost\n" +
			Address + " keystone-0.bench-0.svc.cluster.local\n" + Address + " keystone-0.bench-1.svc.cluster.local\n",
		ControlPlanes: "127.0.0.1 localhost\n" +
			Address + " controlplane-0-keystone.bench-0.svc\n" +
			Address + " controlplane-0-keystone.bench-1.svc\n",
	} {
		w := &World{options: Options{Dir: t.TempDir()}, operator: o}
		path, err := w.Hosts(o.Keys("bench", 2, 1))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(content)); diff != "" {
			t.Errorf("hosts of %s (-want +got):\n%s", o.Plural, diff)
		}
	}
}

func TestASpoiltResourceIsInvalidUntilItIsMended(t *testing.T) {
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
	for _, o := range Operators {
		r := o.New(o.Keys("bench", 1, 1)[0])
		if err := problems(r); err != nil {
			t.Errorf("new: %v", err)
		}
		o.Grow(r)
		if err := problems(r); err != nil {
			t.Errorf("with another replica: %v", err)
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
	for _, o := range Operators {
		if found, err := Find(o.Name); err != nil || found != o {
			t.Errorf("%s is not found (%v)", o.Name, err)
		}
	}
	if _, err := Find("placement"); err == nil || !strings.Contains(err.Error(), "use keystone or c5c3") {
		t.Errorf("got %v, want an error with the operators that there are", err)
	}
}

func TestOnlyACredentialThatKeystoneHasGetsAToken(t *testing.T) {
	w := &World{korc: standin.NewKORC()}
	id := w.korc.Add("bench-0", "ApplicationCredential", "admin")
	endpoint := w.korc.Add("bench-0", "Endpoint", "public")
	ask := func(namespace, method, path, id string) *httptest.ResponseRecorder {
		body := `{"auth":{"identity":{"methods":["application_credential"],"application_credential":{"id":"` + id + `","secret":""}}}}`
		request := httptest.NewRequest(method, "http://controlplane-0-keystone."+namespace+".svc:5000"+path, strings.NewReader(body))
		answer := httptest.NewRecorder()
		w.answerLogin(answer, request)
		return answer
	}
	got := ask("bench-0", http.MethodPost, "/v3/auth/tokens", id)
	want := `{"token":{"catalog":[{"endpoints":[{"id":"` + endpoint + `","region_id":"RegionOne"}]}]}}` + "\n"
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

func TestAReadyKeystoneIsReadyForItsCurrentGenerationOnly(t *testing.T) {
	tracker := &Tracker{states: map[client.ObjectKey]State{}}
	k := brownfield(client.ObjectKey{Namespace: "bench-0", Name: "keystone-0"})
	keys := []client.ObjectKey{client.ObjectKeyFromObject(k)}
	ready := func(s State) bool { return s.Ready }
	if got := tracker.count(keys, ready); got != 0 {
		t.Errorf("%d are ready before one was seen", got)
	}
	k.Generation = 2
	k.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: 1}}
	tracker.see(k)
	if got := tracker.count(keys, ready); got != 0 {
		t.Errorf("%d are ready, and that is about an earlier generation", got)
	}
	k.Status.Conditions[0].ObservedGeneration = 2
	tracker.see(k)
	if got := tracker.count(keys, ready); got != 1 {
		t.Errorf("%d are ready, want 1", got)
	}
}

func TestOneOfSoManyRequestsIsRefusedAndNoWatch(t *testing.T) {
	passed := 0
	d := &Disturbed{}
	handler := d.disturb(Disturbance{Refuse: 3}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed++ }))
	var codes []int
	for _, path := range []string{"/api/v1/pods", "/api/v1/pods?watch=true", "/api/v1/pods", "/api/v1/pods?watch=true", "/api/v1/pods"} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, strings.NewReader("")))
		codes = append(codes, answer.Code)
	}
	if diff := cmp.Diff([]int{200, 200, 200, 200, 429}, codes); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if passed != 4 || d.Refused() != 1 {
		t.Errorf("%d have passed and %d were refused, want 4 and 1", passed, d.Refused())
	}
}

func TestAPodThatRunsIsReady(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "keystone"}}}}
	setRunning(pod)
	if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) != 1 || !pod.Status.ContainerStatuses[0].Ready {
		t.Errorf("its status is %+v", pod.Status)
	}
}
