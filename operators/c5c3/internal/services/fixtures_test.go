package services

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/kube"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// sundial is the resource of a service that does not exist in OpenStack.
type sundial struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec     sundialSpec            `json:"spec,omitzero"`
	Identity commonv1.IdentitySpec  `json:"identity,omitzero"`
	Login    commonv1.SecretRefSpec `json:"login,omitzero"`
	Status   commonv1.ServiceStatus `json:"status,omitzero"`
}

type sundialSpec struct {
	commonv1.ServiceSpec `json:",inline"`
	commonv1.DataSpec    `json:",inline"`
}

func (s *sundial) DeepCopyObject() runtime.Object {
	deep := *s
	deep.ObjectMeta = *s.ObjectMeta.DeepCopy()
	s.Spec.ServiceSpec.DeepCopyInto(&deep.Spec.ServiceSpec)
	s.Spec.DataSpec.DeepCopyInto(&deep.Spec.DataSpec)
	s.Status.DeepCopyInto(&deep.Status)
	return &deep
}

func (s *sundial) GetConditions() []metav1.Condition      { return s.Status.Conditions }
func (s *sundial) ServiceSpec() *commonv1.ServiceSpec     { return &s.Spec.ServiceSpec }
func (s *sundial) DataSpec() *commonv1.DataSpec           { return &s.Spec.DataSpec }
func (s *sundial) ServiceStatus() *commonv1.ServiceStatus { return &s.Status }

func (s *sundial) ServiceUser() commonv1.ServiceUser {
	return commonv1.ServiceUser{Identity: &s.Identity, SecretRef: &s.Login}
}

const (
	sundialName = "controlplane-sundial"
	// wantsSundial is the annotation that replaces the spec field of a real service.
	wantsSundial = "example.com/sundial"
)

var sundialKind = schema.GroupVersionKind{Group: "sundial.example.com", Version: "v1", Kind: "Sundial"}

// sundialService declares the service.
func sundialService() Service {
	return Service{
		name: "sundial", Kind: sundialKind,
		AddToScheme: func(scheme *runtime.Scheme) error {
			scheme.AddKnownTypes(sundialKind.GroupVersion(), &sundial{})
			return nil
		},

		condition: "SundialReady",
		reasons: reasons{
			ready: "SundialReady", notManaged: "SundialNotManaged", notInstalled: "SundialNotInstalled", failed: "SundialError",
			rejected: "SundialRejected", rollBackRefused: "SundialRollBackRefused", waiting: "WaitingForSundial",
			finalizing: "FinalizingSundial",
		},
		needs: []string{StepAdminCredential}, heldBack: "WaitingForAdminCredential",

		wanted:    func(cp *c5c3v1alpha1.ControlPlane) bool { return cp.Annotations[wantsSundial] != "" },
		image:     func(*c5c3v1alpha1.ControlPlane) *commonv1.ImageSpec { return nil },
		childName: func(cp *c5c3v1alpha1.ControlPlane) string { return cp.Name + "-sundial" },
		Empty:     func() child { return &sundial{} },
		child: func(cp *c5c3v1alpha1.ControlPlane, _ given) (child, error) {
			return &sundial{
				ObjectMeta: controlplane.ChildMeta(cp, sundialName),
				Spec: sundialSpec{ServiceSpec: commonv1.ServiceSpec{
					Image: imageOr(nil, "registry.example.com/sundial", cp.Spec.OpenStackRelease),
				}},
			}, nil
		},
		allowDeletion: "example.com/allow-sundial-deletion",

		Database: &Database{
			Secret: func(cp *c5c3v1alpha1.ControlPlane) string { return cp.Name + "-sundial-db-credentials" },
			Path: func(c cluster.Settings, _ *c5c3v1alpha1.ControlPlane) string {
				return c.StorePath("openstack", "sundial")
			},
			finalizer: "example.com/sundial-teardown", stalled: "SundialTeardownStalled",
		},
		pods: func() *metav1.LabelSelector {
			return &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "sundial"}}
		},

		catalogType: "time",
		endpoints: []endpoint{
			{interfaceName: "public", url: func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string { return "https://sundial.example.com" }},
			{interfaceName: "internal", url: func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string { return "http://sundial" }},
		},
	}
}

// withUser adds a user in Keystone to the service.
func withUser(svc Service) Service {
	svc.hasUser = true
	return svc
}

// everyKind is a cluster that serves all kinds.
type everyKind struct{}

func (everyKind) Served(schema.GroupVersionKind) bool { return true }

// toolsFor returns tools for passes over control planes that can have the services, with
// an API server that has the objects.
func toolsFor(t *testing.T, all List, objects ...client.Object) *pass.Tools {
	t.Helper()
	scheme := fixture.Scheme()
	for _, svc := range all {
		if err := svc.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&c5c3v1alpha1.ControlPlane{}).
		WithInterceptorFuncs(interceptor.Funcs{Patch: applied}).Build()
	return &pass.Tools{
		Access: kube.Access{
			Client: c, ThirdParty: c, Scheme: scheme, Kinds: everyKind{}, Clock: func() time.Time { return fixture.Noon },
		},
		RetryPeriod: pass.DefaultRetryPeriod, StallTimeout: pass.DefaultStallTimeout,
	}
}

// applied turns an apply into its result without other field managers. Resource versions,
// with which objects that must not exist are applied, are ignored.
func applied(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
	}
	if data, err = json.Marshal(fields); err != nil {
		return err
	}
	err = c.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", data))
	if apierrors.IsNotFound(err) {
		obj.SetResourceVersion("")
		return c.Create(ctx, obj)
	}
	return err
}
