package expect

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUntilRetriesAndKeepsTheLastReason(t *testing.T) {
	tries := 0
	err := Until(t.Context(), func(context.Context) error {
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || tries != 3 {
		t.Errorf("got %v after %d tries, want success after 3", err, tries)
	}

	ctx, cancel := context.WithCancel(t.Context())
	err = Until(ctx, func(context.Context) error {
		cancel()
		return errors.New("never")
	})
	if err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("got %v, want the last reason", err)
	}
}

func TestCompareSaysInWhatAConditionDiffers(t *testing.T) {
	found := &metav1.Condition{
		Status: metav1.ConditionFalse, Reason: "Waiting", Message: "create Secret db", ObservedGeneration: 2,
	}
	for _, tc := range []struct {
		name       string
		found      *metav1.Condition
		status     metav1.ConditionStatus
		reason     string
		says       []string
		generation int64
		want       string
	}{
		{"as expected", found, "False", "Waiting", []string{"Secret", "db"}, 2, ""},
		{"not there", nil, "False", "Waiting", nil, 2, "differs"},
		{"other status", found, "True", "Waiting", nil, 2, "differs"},
		{"other reason", found, "False", "Done", nil, 2, "differs"},
		{"other message", found, "False", "Waiting", []string{"admin"}, 2, `"admin"`},
		{"older generation", found, "False", "Waiting", nil, 3, "generation 2 of 3"},
	} {
		err := compare(tc.found, tc.status, tc.reason, tc.says, tc.generation)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: got %v, want none", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: got %v, want one about %s", tc.name, err, tc.want)
		}
	}
}

func TestConditionsOfAnyTypeAreRead(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, Reason: "Fine"}}
	got, err := Conditions(pod)
	if err != nil || len(got) != 1 || got[0].Type != "Ready" || got[0].Status != metav1.ConditionTrue || got[0].Reason != "Fine" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := Conditions(&corev1.ConfigMap{}); err != nil || got != nil {
		t.Errorf("an object without conditions has %+v, %v", got, err)
	}
}
