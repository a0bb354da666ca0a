package secrets_test

import (
	"context"
	"testing"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/secrets"
)

// ending is the answer of the API server in a namespace that is being deleted.
func ending() error {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "tried", nil)
	refused.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return refused
}

// ended is a PushSecret that External Secrets does not finish: it is being deleted, with
// the given condition.
func ended(status corev1.ConditionStatus) *esov1alpha1.PushSecret {
	now := metav1.NewTime(time.Now())
	push := &esov1alpha1.PushSecret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "push", DeletionTimestamp: &now, Finalizers: []string{secrets.PushSecretFinalizer, "example.com/other"},
		},
		Spec: esov1alpha1.PushSecretSpec{DeletionPolicy: esov1alpha1.PushSecretDeletionPolicyDelete},
	}
	push.Status.Conditions = []esov1alpha1.PushSecretStatusCondition{{
		Type: esov1alpha1.PushSecretReady, Status: status, Message: "cannot request a token",
	}}
	return push
}

func TestAPushSecretDoesNotBlockNamespaceDeletion(t *testing.T) {
	for name, c := range map[string]struct {
		answer    error
		status    corev1.ConditionStatus
		alive     bool
		overdue   bool
		abandoned bool
	}{
		"that External Secrets cannot finish":    {answer: ending(), status: corev1.ConditionFalse, abandoned: true},
		"that External Secrets does not finish":  {answer: ending(), status: corev1.ConditionTrue, overdue: true, abandoned: true},
		"that External Secrets may still finish": {answer: ending(), status: corev1.ConditionTrue},
		"that is not being deleted":              {answer: ending(), status: corev1.ConditionFalse, alive: true},
		"in a namespace that stays":              {status: corev1.ConditionFalse, overdue: true},
		"in a namespace that refuses new Secrets": {
			answer: apierrors.NewForbidden(schema.GroupResource{}, "", nil), status: corev1.ConditionFalse,
		},
	} {
		scheme := runtime.NewScheme()
		if err := esov1alpha1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		if err := corev1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		push, tried := ended(c.status), 0
		if c.alive {
			push.DeletionTimestamp = nil
		}
		api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(push).WithStatusSubresource(push).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(_ context.Context, _ client.WithWatch, _ client.Object, opts ...client.CreateOption) error {
				if options := (&client.CreateOptions{}).ApplyOptions(opts); len(options.DryRun) == 0 {
					t.Errorf("%s: something is created", name)
				}
				tried++
				return c.answer
			},
		}).Build()
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(push), push); err != nil {
			t.Fatal(err)
		}
		abandoned, err := secrets.AbandonInNamespace(t.Context(), api, push, c.overdue)
		if abandoned != c.abandoned || err != nil || tried > 1 {
			t.Errorf("%s: abandoned %t after %d questions, %v", name, abandoned, tried, err)
		}
		after := &esov1alpha1.PushSecret{}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(push), after); err != nil {
			t.Fatal(err)
		}
		if left := !secrets.Adopted(after) && after.Spec.DeletionPolicy == esov1alpha1.PushSecretDeletionPolicyNone; left != c.abandoned {
			t.Errorf("%s: it has the policy %s and %v", name, after.Spec.DeletionPolicy, after.Finalizers)
		}
	}
}
