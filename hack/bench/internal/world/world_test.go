package world

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/operators"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestEveryKeystoneHostNameResolvesToTheSameAddress(t *testing.T) {
	for o, want := range map[*operators.Operator]string{
		operators.Keystones: "127.0.0.1 localhost\n" +
			Address + " keystone-0.bench-0.svc.cluster.local\n" + Address + " keystone-0.bench-1.svc.cluster.local\n",
		operators.ControlPlanes: "127.0.0.1 localhost\n" +
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

func TestAReadyConditionOfAnEarlierGenerationDoesNotCount(t *testing.T) {
	tracker := &Tracker{states: map[client.ObjectKey]State{}}
	k := &keystonev1alpha1.Keystone{ObjectMeta: metav1.ObjectMeta{Namespace: "bench-0", Name: "keystone-0"}}
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
	if got := tracker.Len(); got != 1 {
		t.Errorf("there are %d, want 1", got)
	}
}

func TestEveryNthRequestIsRefusedExceptWatches(t *testing.T) {
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
