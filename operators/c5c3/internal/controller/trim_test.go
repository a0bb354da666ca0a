package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestManagedFieldsAreCachedOnlyForAppliedKinds(t *testing.T) {
	for want, objects := range map[string][]client.Object{
		"": {
			&c5c3v1alpha1.ControlPlane{}, &c5c3v1alpha1.CredentialRotation{}, &corev1.Secret{}, &metav1.PartialObjectMetadata{},
		},
		pass.FieldManager: {&keystonev1alpha1.Keystone{}, &infraapi.MariaDB{}, &networkingv1.NetworkPolicy{}},
	} {
		for _, obj := range objects {
			obj.SetName("a")
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: pass.FieldManager}})
			if _, err := Trim(obj); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, entry := range obj.GetManagedFields() {
				got += entry.Manager
			}
			if got != want || obj.GetName() != "a" {
				t.Errorf("of %T the writers %q are known, want %q", obj, got, want)
			}
		}
	}
}
