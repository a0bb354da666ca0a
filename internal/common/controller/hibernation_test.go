package controller

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// stops is a controller that stops the Deployment of a resource and then its Secret.
func stops(running, unstoppable string, mayRefuse bool) Controller[*instance.Harbour, struct{}, struct{}] {
	c := declared()
	stop := func(kind client.Object, running string) reconcile.Stoppable {
		return reconcile.Stoppable{
			Object: kind, MayRefuse: mayRefuse,
			IsStopped:   isStopped,
			Running:     func(client.Object) string { return running },
			Unstoppable: func(client.Object) string { return "" },
		}
	}
	c.Hibernation = &Hibernation[*instance.Harbour, struct{}]{
		Stops:   []reconcile.Stoppable{stop(&appsv1.Deployment{}, running), stop(&corev1.Secret{}, "")},
		Running: func(context.Context, struct{}, *instance.Harbour) (string, error) { return "", nil },
	}
	c.Hibernation.Stops[0].Unstoppable = func(client.Object) string { return unstoppable }
	return c
}

func isStopped(obj client.Object) bool {
	return obj.GetAnnotations()[vocabulary.AnnotationHibernated] != ""
}

func TestObjectsStopInOrder(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "harbour", nil)
	for name, test := range map[string]struct {
		running, unstoppable string
		refusal              error
		want                 string
		stopped              bool
		remarks              []string
	}{
		"the first still runs":  {running: "pod a has not ended", want: "pod a has not ended"},
		"the first cannot stop": {unstoppable: "it stays up", stopped: true, remarks: []string{"it stays up"}},
		"the first may not stop": {
			refusal: invalid, stopped: true, remarks: []string{"Deployment harbour stays up: applying Deployment harbour: " + invalid.Error()},
		},
		"the first stops, then all": {stopped: true},
	} {
		t.Run(name, func(t *testing.T) {
			resource := instance.Brownfield()
			meta := metav1.ObjectMeta{Namespace: resource.Namespace, Name: "harbour"}
			meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(resource, instance.Kind)}
			deploy, secret := &appsv1.Deployment{ObjectMeta: meta}, &corev1.Secret{ObjectMeta: meta}
			c := stops(test.running, test.unstoppable, true)
			api := fake.NewClientBuilder().WithScheme(Scheme(c)).WithObjects(deploy, secret).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(
					ctx context.Context, api client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption,
				) error {
					if _, is := obj.(*appsv1.Deployment); is && test.refusal != nil {
						return test.refusal
					}
					return api.Patch(ctx, obj, patch, options...)
				},
			}).Build()
			access := kube.Access{Client: api, ThirdParty: api, Scheme: api.Scheme()}
			running, remarks := "", []string(nil)
			for range 3 {
				var err error
				if running, remarks, err = c.stop(t.Context(), access, struct{}{}, resource); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.remarks, remarks); diff != "" || running != test.want {
				t.Errorf("%q still runs, want %q; remarks (-want +got):\n%s", running, test.want, diff)
			}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
				t.Fatal(err)
			}
			if got := isStopped(secret); got != test.stopped {
				t.Errorf("the second is stopped: %t, want %t", got, test.stopped)
			}
		})
	}
}

func TestARefusedStopKeepsTheNextFromStopping(t *testing.T) {
	c, resource := stops("", "", false), instance.Brownfield()
	deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: resource.Namespace, Name: "harbour"}}
	deploy.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(resource, instance.Kind)}
	secret := &corev1.Secret{ObjectMeta: deploy.ObjectMeta}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "harbour", nil)
	api := fake.NewClientBuilder().WithScheme(Scheme(c)).WithObjects(deploy, secret).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return invalid
		},
	}).Build()
	_, _, err := c.stop(t.Context(), kube.Access{Client: api, ThirdParty: api, Scheme: api.Scheme()}, struct{}{}, resource)
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want the refusal", err)
	}
}
