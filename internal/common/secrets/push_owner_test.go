package secrets_test

import (
	"testing"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/secrets"
)

func TestAPushSecretDoesNotBlockForegroundDeletion(t *testing.T) {
	for _, owner := range ownersOfAPush(t, false) {
		if ptr.Deref(owner.BlockOwnerDeletion, false) {
			t.Errorf("an owner is %+v", owner)
		}
	}
}

// The garbage collector keeps an object with an owner that is not being deleted.
func TestASecondOwnerKeepsARetainedPushSecretFromGarbageCollection(t *testing.T) {
	owners := ownersOfAPush(t, true)
	if len(owners) != 2 || owners[0].Kind != "ConfigMap" || !ptr.Deref(owners[0].Controller, false) ||
		owners[1].Kind != "Secret" || ptr.Deref(owners[1].Controller, false) {
		t.Errorf("its owners are %+v", owners)
	}
}

// ownersOfAPush returns the owners that two passes leave on a PushSecret of a former version.
func ownersOfAPush(t *testing.T, kept bool) []metav1.OwnerReference {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, esov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "owner", UID: "uid"}}
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "source", UID: "source-uid"}}
	push := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "push"}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().Build()
	if err := apply.EnsureObject(t.Context(), api, scheme, owner, push.DeepCopy(), apply.FieldManager); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wanted := push.DeepCopy()
		if kept {
			if err := secrets.Keep(scheme, owner, source, wanted); err != nil {
				t.Fatal(err)
			}
		}
		if err := secrets.EnsurePushSecret(t.Context(), api, scheme, owner, wanted, apply.FieldManager); err != nil {
			t.Fatal(err)
		}
	}
	live := &esov1alpha1.PushSecret{}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(push), live); err != nil {
		t.Fatal(err)
	}
	return live.OwnerReferences
}
