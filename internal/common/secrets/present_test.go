package secrets_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/secrets"
)

func TestTheSecretOfADeletedPredecessorIsWaitedFor(t *testing.T) {
	owner := func(uid string) *corev1.ConfigMap {
		cm := &corev1.ConfigMap{}
		cm.Namespace, cm.Name, cm.UID = "ns", "owner", source(uid, nil).UID
		return cm
	}
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "staging", Labels: map[string]string{"a": "b"}}
	live := &corev1.Secret{ObjectMeta: *meta.DeepCopy()}
	live.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(owner("old"), corev1.SchemeGroupVersion.WithKind("ConfigMap")),
	}
	c := fake.NewClientBuilder().WithObjects(live).Build()
	o := secrets.Owned{Client: c, APIReader: c, Scheme: scheme.Scheme}
	desired := &corev1.Secret{ObjectMeta: meta}
	if err := o.EnsurePresent(t.Context(), owner("new"), desired.DeepCopy()); !errors.Is(err, apply.ErrPredecessor) {
		t.Errorf("got %v, want it to wait for the Secret to go", err)
	}
	if _, _, err := o.EnsureOnce(t.Context(), owner("new"), desired.DeepCopy()); !errors.Is(err, apply.ErrPredecessor) {
		t.Errorf("content that is made once: got %v, want it to wait for the Secret to go", err)
	}
}
