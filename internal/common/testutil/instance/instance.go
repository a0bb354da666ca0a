// Package instance defines a kind of API service for tests, so that the steps of
// the shared library can be tested without an operator.
package instance

import (
	"context"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
)

// AddToScheme registers the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Harbour{}, &HarbourList{}, &Lighthouse{}, &Buoy{}, &BuoyList{}, &Marina{}, &Mooring{}, &MooringList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// Scheme returns a scheme with the kind and all types that the shared library
// writes.
func Scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, AddToScheme, mariadbv1alpha1.AddToScheme, esov1.AddToScheme, esov1alpha1.AddToScheme,
		certmanagerv1.AddToScheme, gatewayv1.Install,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// AllKinds stands for a cluster in which every kind is installed.
type AllKinds struct{}

// Served implements [kube.Kinds].
func (AllKinds) Served(schema.GroupVersionKind) bool { return true }

// Pass returns a pass over the resource against a fake API server that holds the
// resource and the objects. The configuration is rendered.
func Pass(t testing.TB, h service.Resource, funcs interceptor.Funcs, objects ...client.Object) *service.Pass {
	t.Helper()
	scheme := Scheme(t)
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).WithObjects(append(objects, h)...).
		WithIndex(&Harbour{}, service.IndexDatabase, indexDatabase).WithIndex(&Mooring{}, MooringField, indexMarina).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(h), h); err != nil {
		t.Fatal(err)
	}
	p := service.NewPass(&service.Tools{
		Access: kube.Access{
			Client: c, ThirdParty: c, APIReader: c, Scheme: scheme, Kinds: AllKinds{},
			Owned: secrets.Owned{Client: c, APIReader: c, Scheme: scheme},
		},
		NewList: NewList, Peers: c, Jobs: &job.Runner{Client: c, Scheme: scheme},
	}, &Definition, h)
	service.Config.Put(p.Slots, service.Rendered{ConfigMap: "harbour-config-01234567"})
	return p
}

// Succeed runs a Job and lets it succeed. From then on, p reads Jobs as they are in an
// operator's cache, which holds no volumes.
func Succeed(t testing.TB, p *service.Pass, desired *batchv1.Job) {
	t.Helper()
	p.Jobs.Events = p.Client
	if _, err := service.Runner(p).Run(t.Context(), p.Resource, desired); err != nil {
		t.Fatal(err)
	}
	desired.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
	}}
	if err := p.Client.Status().Update(t.Context(), desired); err != nil {
		t.Fatal(err)
	}
	uncached, ok := p.Client.(client.WithWatch)
	if !ok {
		t.Fatalf("%T cannot be intercepted", p.Client)
	}
	p.Jobs.Client = interceptor.NewClient(uncached, interceptor.Funcs{Get: withoutVolumes})
}

func withoutVolumes(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	err := c.Get(ctx, key, obj, options...)
	if found, ok := obj.(*batchv1.Job); ok {
		found.Spec.Template.Spec.Volumes = nil
	}
	return err
}

func indexDatabase(obj client.Object) []string {
	h, ok := obj.(*Harbour)
	if !ok {
		return nil
	}
	return service.DatabaseOf(h, cluster.Settings{}).Keys()
}
