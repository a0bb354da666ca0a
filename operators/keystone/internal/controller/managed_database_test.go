package controller

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// passOver is a pass over the Keystone in a cluster that holds nothing but the
// objects.
func passOver(k *keystonev1alpha1.Keystone, objects ...client.Object) *scope {
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(objects...).Build()
	s := scopeOf(k)
	s.Client, s.Owned = c, secrets.Owned{Client: c, Live: c, Scheme: Scheme()}
	return s
}

func apiPod(k *keystonev1alpha1.Keystone, name, connectionHash string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.Namespace, Name: name, Labels: selectorLabels(k),
			Annotations: map[string]string{annotationConnectionHash: connectionHash},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
}

func TestAPodThatHasEndedDoesNotHoldBackAChangeOfThePassword(t *testing.T) {
	current, wanted := login{"keystone", []byte("old")}, login{"keystone", []byte("new")}
	for phase, changes := range map[corev1.PodPhase]bool{
		corev1.PodFailed: true, corev1.PodSucceeded: true, corev1.PodRunning: false, corev1.PodPending: false,
	} {
		k := managed()
		s := passOver(k, apiPod(k, "serving", "live", corev1.PodRunning), apiPod(k, "other", "earlier", phase))
		plan, err := s.planManagedLogins(t.Context(), wanted, current, "live")
		if err != nil {
			t.Fatal(err)
		}
		if got := !plan.next.is(current); got != changes {
			t.Errorf("with a pod of another connection that is %s the login changes: %t, want %t", phase, got, changes)
		}
	}
}

// What the file does then is tested where it is, by test_sitecustomize.py.
func TestConnectionsToAManagedDatabaseWaitForWhatWasWrittenThroughAnotherServer(t *testing.T) {
	for name, test := range map[string]struct {
		keystone *keystonev1alpha1.Keystone
		want     string
	}{"managed": {managed(), "True"}, "brownfield": {minimal(), "False"}} {
		files, err := configFiles(cluster.Settings{}, test.keystone, keystoneOptions(cluster.Settings{}, test.keystone, false), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := "\nWAIT_FOR_WRITES = " + test.want + "\n"; strings.Count(files[startFile], want) != 1 {
			t.Errorf("%s: %s does not say %s", name, startFile, strings.TrimSpace(want))
		}
	}
}
