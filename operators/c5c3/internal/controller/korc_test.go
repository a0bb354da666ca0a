package controller

import (
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
)

func TestWhatKORCGivesUpIsTriedLessAndLessOften(t *testing.T) {
	for name, c := range map[string]struct{ failing, gaveUp, want time.Duration }{
		"just now":                      {0, 0, 30 * time.Second},
		"a while ago":                   {20 * time.Second, 20 * time.Second, 10 * time.Second},
		"long enough ago":               {30 * time.Second, 30 * time.Second, 0},
		"again, after ten minutes":      {10 * time.Minute, time.Minute, 4 * time.Minute},
		"again, after a day":            {aDay, time.Minute, 9 * time.Minute},
		"by a clock that has been back": {-time.Hour, 0, 30 * time.Second},
	} {
		s := newScope(&toolbox{clock: func() time.Time { return noon }, retryPeriod: defaultRetryPeriod}, &c5c3v1alpha1.ControlPlane{})
		if got := s.retryAfter(noon.Add(-c.gaveUp), noon.Add(-c.failing)); got != c.want {
			t.Errorf("%s: got %s, expected %s", name, got, c.want)
		}
	}
}

func TestOnlyWhatKORCSaysAboutTheCurrentSpecCounts(t *testing.T) {
	condition := func(conditionType, status, reason string, generation int64) metav1.Condition {
		return metav1.Condition{
			Type: conditionType, Status: metav1.ConditionStatus(status), Reason: reason, Message: "m", ObservedGeneration: generation,
		}
	}
	for name, c := range map[string]struct {
		conditions        []metav1.Condition
		available, failed bool
	}{
		"nothing yet": {},
		"there":       {[]metav1.Condition{condition("Available", "True", "Success", 2)}, true, false},
		"there for an earlier spec": {
			[]metav1.Condition{condition("Available", "True", "Success", 1)}, false, false,
		},
		"given up": {
			[]metav1.Condition{condition("Progressing", "False", "InvalidConfiguration", 2)}, false, true,
		},
		"given up for an earlier spec": {
			[]metav1.Condition{condition("Progressing", "False", "UnrecoverableError", 1)}, false, false,
		},
		"still trying": {[]metav1.Condition{condition("Progressing", "True", "TransientError", 2)}, false, false},
	} {
		obj := &orcv1alpha1.Service{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		obj.Status.Conditions = c.conditions
		if got := stateOf(obj); got.available != c.available || got.failed != c.failed {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// Whoever deletes the Secret wants another credential, also in the middle of a
// pass that has read it.
func TestACredentialWhoseSecretIsDeletedMeanwhileIsNotStoredAgain(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(Scheme()).Build()
	cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "controlplane", UID: "controlplane"}}
	m := &manager{
		scope: newScope(&toolbox{client: c, owned: secrets.Owned{Client: c, Live: c, Scheme: Scheme()}}, cp),
		held: held{credential: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: cp.ApplicationCredentialName(), UID: "deleted", ResourceVersion: "1"},
			Data:       map[string][]byte{keyValue: []byte("secret")},
		}},
	}
	for name, data := range map[string]map[string][]byte{
		"as it was": m.credential.Data, "changed": {keyValue: []byte("secret"), clouds.Key: []byte("clouds: {}")},
	} {
		err := m.storeCredential(t.Context(), data)
		if changed := name == "changed"; changed != apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(m.credential), &corev1.Secret{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: the Secret is there again", name)
		}
	}
}
