package secrets_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/secrets"
)

func TestARestoredSecretIsAdopted(t *testing.T) {
	owner := func(name, uid string) *corev1.ConfigMap {
		cm := &corev1.ConfigMap{}
		cm.Namespace, cm.Name, cm.UID = "ns", name, source(uid, nil).UID
		return cm
	}
	controlled := func(by *corev1.ConfigMap) []metav1.OwnerReference {
		return []metav1.OwnerReference{*metav1.NewControllerRef(by, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	}
	us, former, other := owner("owner", "new"), owner("owner", "old"), owner("other", "other")
	for name, c := range map[string]struct {
		owners, want []metav1.OwnerReference
		refusal      error
	}{
		"uncontrolled":        {},
		"ours":                {owners: controlled(us)},
		"a former namesake's": {owners: controlled(former)},
		"another owner's":     {owners: controlled(other), refusal: apply.ErrNotOwned},
		"uncontrolled, with a plain reference": {
			owners: uncontrolled(controlled(other)), want: uncontrolled(controlled(other)),
		},
	} {
		live := source("", map[string]string{"0": "key"})
		live.Namespace, live.Name, live.OwnerReferences = "ns", "keys", c.owners
		reader := fake.NewClientBuilder().WithObjects(live).Build()
		o := secrets.Owned{Client: reader, APIReader: reader, Scheme: scheme.Scheme}
		found, err := o.FindUncached(t.Context(), client.ObjectKeyFromObject(live))
		if err != nil {
			t.Fatal(err)
		}
		wanted := metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}
		if secrets.Claimed(found, wanted) {
			t.Errorf("%s: it counts as claimed before", name)
		}
		claimed, err := o.Claim(t.Context(), us, found, found, wanted, nil)
		if !errors.Is(err, c.refusal) {
			t.Errorf("%s: got %v, want %v", name, err, c.refusal)
		}
		if err != nil {
			continue
		}
		after, err := o.FindUncached(t.Context(), client.ObjectKeyFromObject(live))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, after.OwnerReferences); diff != "" {
			t.Errorf("%s: owners (-want +got):\n%s", name, diff)
		}
		if string(after.Data["0"]) != "key" || after.Labels["a"] != "b" || after.Annotations["c"] != "d" || !secrets.Claimed(claimed, wanted) {
			t.Errorf("%s: got %v with labels %v", name, after.Data, after.Labels)
		}
	}
}

func TestASecretThatIsBeingDeletedIsNotClaimed(t *testing.T) {
	live := source("", nil)
	now := metav1.Now()
	live.DeletionTimestamp = &now
	_, err := (secrets.Owned{}).Claim(t.Context(), source("owner", nil), live, live, metav1.ObjectMeta{}, nil)
	if !errors.Is(err, apply.ErrPredecessor) {
		t.Errorf("got %v, want it to wait for the Secret to go", err)
	}
}

func uncontrolled(references []metav1.OwnerReference) []metav1.OwnerReference {
	references[0].Controller, references[0].BlockOwnerDeletion = nil, nil
	return references
}
