package secrets

import (
	"context"
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func store(name string, status corev1.ConditionStatus, message string) *esov1.ClusterSecretStore {
	return &esov1.ClusterSecretStore{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: esov1.SecretStoreStatus{Conditions: []esov1.SecretStoreStatusCondition{{
			Type: esov1.SecretStoreReady, Status: status, Message: message,
		}}},
	}
}

func TestOnlyReadinessChangesOfOwnStoresTriggerReconciles(t *testing.T) {
	ready, repeated := store(StoreName, corev1.ConditionTrue, ""), store(StoreName, corev1.ConditionTrue, "validated")
	broken := store(StoreName, corev1.ConditionFalse, "sealed")
	checked, checkedBroken := store(CheckedStoreName, corev1.ConditionTrue, ""), store(CheckedStoreName, corev1.ConditionFalse, "")
	theirs, theirsBroken := store("theirs", corev1.ConditionTrue, ""), store("theirs", corev1.ConditionFalse, "")
	for what, concerns := range map[string]struct{ got, want bool }{
		"its creation":                  {StoreChanges.Create(event.CreateEvent{Object: ready}), true},
		"its deletion":                  {StoreChanges.Delete(event.DeleteEvent{Object: ready}), true},
		"a failure":                     {StoreChanges.Update(event.UpdateEvent{ObjectOld: ready, ObjectNew: broken}), true},
		"a repair":                      {StoreChanges.Update(event.UpdateEvent{ObjectOld: broken, ObjectNew: ready}), true},
		"another message":               {StoreChanges.Update(event.UpdateEvent{ObjectOld: ready, ObjectNew: repeated}), false},
		"a sealed backend":              {StoreChanges.Update(event.UpdateEvent{ObjectOld: checked, ObjectNew: checkedBroken}), true},
		"a foreign store":               {StoreChanges.Create(event.CreateEvent{Object: theirs}), false},
		"a failure of a foreign store":  {StoreChanges.Update(event.UpdateEvent{ObjectOld: theirs, ObjectNew: theirsBroken}), false},
		"a deletion of a foreign store": {StoreChanges.Delete(event.DeleteEvent{Object: theirs}), false},
	} {
		if concerns.got != concerns.want {
			t.Errorf("%s: concerns the resources: %t, want %t", what, concerns.got, concerns.want)
		}
	}
}

type kinds bool

func (k kinds) Served(schema.GroupVersionKind) bool { return bool(k) }

func TestTheBrokenStoreIsTheOneThatIsMissingOrNotReady(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := esov1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	ready, broken := corev1.ConditionTrue, corev1.ConditionFalse
	for name, test := range map[string]struct {
		served kinds
		stores []client.Object
		want   string
	}{
		"no kind":                     {false, nil, ""},
		"no store":                    {true, nil, StoreName},
		"one store":                   {true, []client.Object{store(StoreName, ready, "")}, ""},
		"one store that is not ready": {true, []client.Object{store(StoreName, broken, "")}, StoreName},
		"both":                        {true, []client.Object{store(StoreName, ready, ""), store(CheckedStoreName, ready, "")}, ""},
		"a sealed backend of both": {
			true, []client.Object{store(StoreName, ready, ""), store(CheckedStoreName, broken, "")}, CheckedStoreName,
		},
		"a foreign store beside our own": {true, []client.Object{store(StoreName, ready, ""), store("theirs", broken, "")}, ""},
	} {
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.stores...).Build()
		if got, err := BrokenStore(context.Background(), test.served, c); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}
