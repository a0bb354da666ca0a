package controller

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func TestACredentialRotationThatLosesEveryRaceIsTriedLessAndLess(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := c5c3v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	// Its target is refused, so that the pass only writes the status.
	rotation := &c5c3v1alpha1.CredentialRotation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "rotation"}}
	lost := true
	conflicting := fake.NewClientBuilder().WithScheme(scheme).WithObjects(rotation).WithStatusSubresource(rotation).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: func(
			ctx context.Context, c client.Client, subResource string, obj client.Object, opts ...client.SubResourceUpdateOption,
		) error {
			if lost {
				return apierrors.NewConflict(schema.GroupResource{Resource: "credentialrotations"}, obj.GetName(), nil)
			}
			return c.SubResource(subResource).Update(ctx, obj, opts...)
		}}).Build()
	stepMetrics, err := reconcile.NewMetrics(prometheus.NewRegistry(), "forge")
	if err != nil {
		t.Fatal(err)
	}
	r := &rotationReconciler{toolbox: &toolbox{client: conflicting}, metrics: stepMetrics}
	for i, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 0, 100 * time.Millisecond} {
		if lost = want > 0; !lost {
			want = rotationSafetyNet
		}
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(rotation)})
		if err != nil || result.RequeueAfter != want {
			t.Errorf("pass %d: got %v and error %v, want another pass after %v", i+1, result.RequeueAfter, err, want)
		}
		if !lost {
			rotation.Status = c5c3v1alpha1.CredentialRotationStatus{}
			if err := conflicting.Get(t.Context(), client.ObjectKeyFromObject(rotation), rotation); err != nil {
				t.Fatal(err)
			}
			rotation.Generation++
			if err := conflicting.Update(t.Context(), rotation); err != nil {
				t.Fatal(err)
			}
		}
	}
}
