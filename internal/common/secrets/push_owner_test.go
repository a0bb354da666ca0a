package secrets_test

import (
	"context"
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

func TestAForegroundDeletionDoesNotWaitForTheStore(t *testing.T) {
	if controller := controllerAfter(t, secrets.EnsurePushSecret); controller == nil || ptr.Deref(controller.BlockOwnerDeletion, false) {
		t.Errorf("its controller is %+v", controller)
	}
}

// Garbage collection deletes whatever has an owner reference, also in a foreground deletion
// that does not wait for it.
func TestGarbageCollectionDoesNotDeleteAKeptCopy(t *testing.T) {
	if controller := controllerAfter(t, secrets.EnsureKeptPushSecret); controller != nil {
		t.Errorf("its controller is %+v", controller)
	}
}

type ensures func(context.Context, client.Client, *runtime.Scheme, client.Object, *esov1alpha1.PushSecret, string) error

// controllerAfter returns the controller that two passes leave on a PushSecret of a former
// version.
func controllerAfter(t *testing.T, ensure ensures) *metav1.OwnerReference {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, esov1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "owner", UID: "uid"}}
	push := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "push"}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().Build()
	if err := apply.EnsureObject(t.Context(), api, scheme, owner, push.DeepCopy(), apply.FieldManager); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := ensure(t.Context(), api, scheme, owner, push.DeepCopy(), apply.FieldManager); err != nil {
			t.Fatal(err)
		}
	}
	live := &esov1alpha1.PushSecret{}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(push), live); err != nil {
		t.Fatal(err)
	}
	return metav1.GetControllerOf(live)
}
