// Package instance defines a kind of API service for tests, so that the steps of
// the shared library can be tested without an operator.
package instance

import (
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
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
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Definition describes the service.
var Definition = service.Definition{
	Kind: "Harbour", Name: "harbour", Port: 7000, UserID: 1000, ConfigDir: "/etc/harbour/harbour.conf.d/",
	Environment: []corev1.EnvVar{{Name: "HARBOUR", Value: "open"}},
}

var groupVersion = schema.GroupVersion{Group: "test.openstack.c5c3.io", Version: "v1"}

// Kind is the kind of the resource.
var Kind = groupVersion.WithKind(Definition.Kind)

// Harbour is the resource of the service.
type Harbour struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   commonv1.ServiceSpec
	Status commonv1.ServiceStatus
}

var _ service.Resource = (*Harbour)(nil)

// DeepCopyObject implements [runtime.Object].
func (h *Harbour) DeepCopyObject() runtime.Object {
	copied := &Harbour{TypeMeta: h.TypeMeta}
	h.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	h.Spec.DeepCopyInto(&copied.Spec)
	h.Status.DeepCopyInto(&copied.Status)
	return copied
}

// HarbourList is a list of them.
type HarbourList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Harbour
}

// NewList returns an empty list.
func NewList() client.ObjectList { return &HarbourList{} }

// DeepCopyObject implements [runtime.Object].
func (l *HarbourList) DeepCopyObject() runtime.Object {
	copied := &HarbourList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		if item, ok := l.Items[i].DeepCopyObject().(*Harbour); ok {
			copied.Items = append(copied.Items, *item)
		}
	}
	return copied
}

// AddToScheme registers the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Harbour{}, &HarbourList{}, &Lighthouse{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// ServiceSpec implements [service.Resource].
func (h *Harbour) ServiceSpec() *commonv1.ServiceSpec { return &h.Spec }

// ServiceStatus implements [service.Resource].
func (h *Harbour) ServiceStatus() *commonv1.ServiceStatus { return &h.Status }

// GetConditions implements [service.Resource].
func (h *Harbour) GetConditions() []metav1.Condition { return h.Status.Conditions }

// SetConditions implements [service.Resource].
func (h *Harbour) SetConditions(conditions []metav1.Condition) { h.Status.Conditions = conditions }

// SetObservedGeneration implements [service.Resource].
func (h *Harbour) SetObservedGeneration(generation int64) { h.Status.ObservedGeneration = generation }

// StatusCopy implements [service.Resource].
func (h *Harbour) StatusCopy() any { return *h.Status.DeepCopy() }

// Scheme returns a scheme with the kind and all types that the shared library
// writes.
func Scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, AddToScheme, mariadbv1alpha1.AddToScheme, esov1.AddToScheme, certmanagerv1.AddToScheme, gatewayv1.Install,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// AllKinds stands for a cluster in which every kind is installed.
type AllKinds struct{}

// Served implements [service.Kinds].
func (AllKinds) Served(schema.GroupVersionKind) bool { return true }

// Brownfield returns a defaulted resource with an external database and cache.
func Brownfield() *Harbour {
	h := &Harbour{
		ObjectMeta: metav1.ObjectMeta{Name: "harbour", Namespace: "openstack", UID: "harbour-uid"},
		Spec: commonv1.ServiceSpec{
			Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/harbour", Tag: "2025.2"},
			Database: commonv1.DatabaseSpec{
				Host: "db.example.com", Database: "harbour", SecretRef: commonv1.SecretRefSpec{Name: "harbour-db"},
			},
			Cache: commonv1.CacheSpec{Servers: []string{"memcached:11211"}},
		},
	}
	h.Spec.SetDefaults()
	return h
}

// Pass returns a pass over the resource against a fake API server that holds the
// resource and the objects. The configuration is rendered.
func Pass(t testing.TB, h service.Resource, funcs interceptor.Funcs, objects ...client.Object) *service.Pass {
	t.Helper()
	scheme := Scheme(t)
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).WithObjects(append(objects, h)...).
		WithIndex(&Harbour{}, service.IndexDatabase, indexDatabase).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(h), h); err != nil {
		t.Fatal(err)
	}
	p := service.NewPass(&service.Tools{
		Client: c, ThirdParty: c, APIReader: c, Scheme: scheme, NewList: NewList,
		Owned: secrets.Owned{Client: c, Live: c, Scheme: scheme},
		Jobs:  &job.Runner{Client: c, Scheme: scheme},
		Kinds: AllKinds{},
	}, &Definition, h)
	service.Config.Put(p.Slots, service.Rendered{ConfigMap: "harbour-config-01234567"})
	return p
}

func indexDatabase(obj client.Object) []string {
	h, ok := obj.(*Harbour)
	if !ok {
		return nil
	}
	return []string{service.DatabaseKey(h, cluster.Settings{})}
}
