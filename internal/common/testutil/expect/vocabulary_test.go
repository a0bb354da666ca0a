package expect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestConditionReasonsThatNoTestExpectsAreReported(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: "Shown", Status: corev1.ConditionFalse, Reason: "Waiting"}}
	c := fake.NewClientBuilder().WithObjects(pod).Build()
	Condition(t, c, pod, "Shown", metav1.ConditionFalse, "Waiting")
	got := Vocabulary{
		Kind: vocabulary.Kind{Kind: "Pod", Conditions: []vocabulary.Condition{
			{Type: "Shown", True: []string{"Done"}, False: []string{"Waiting", "Failed", "Never"}},
			{Type: "Hidden", False: []string{"Waiting"}},
		}},
		Unreached: map[string]string{"Never": "it cannot be"},
	}.Gaps()
	want := []string{
		"no test expects Shown=True of a Pod with the reason Done: write one",
		"no test expects Shown=False of a Pod with the reason Failed: write one",
		"no test expects Hidden=False of a Pod with the reason Waiting: write one",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	got = Vocabulary{
		Kind:      vocabulary.Kind{Kind: "Pod", Conditions: []vocabulary.Condition{{Type: "Shown", False: []string{"Waiting"}}}},
		Unreached: map[string]string{"Waiting": "it cannot be"},
	}.Gaps()
	want = []string{"a test has shown Shown=False of a Pod with the reason Waiting, of which is said that it cannot be: one of them is wrong"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}
