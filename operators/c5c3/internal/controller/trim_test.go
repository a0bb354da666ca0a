package controller

import (
	"slices"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestWhoWroteAFieldIsKnownInTheCacheOnlyWhereThePassesAsk(t *testing.T) {
	for _, test := range []struct {
		obj  client.Object
		want []string
	}{
		{&c5c3v1alpha1.ControlPlane{}, nil},
		{&c5c3v1alpha1.CredentialRotation{}, nil},
		{&c5c3v1alpha1.SecretAggregate{}, nil},
		{&keystonev1alpha1.Keystone{}, []string{apply.FieldManager}},
		{&mariadbv1alpha1.MariaDB{}, []string{apply.FieldManager}},
		{&networkingv1.NetworkPolicy{}, []string{apply.FieldManager}},
		{&corev1.Secret{}, []string{"kubectl", apply.FieldManager}},
	} {
		test.obj.SetName("a")
		test.obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: apply.FieldManager}})
		trimmed, err := Trim(test.obj)
		if err != nil {
			t.Fatal(err)
		}
		obj, known := trimmed.(client.Object)
		if !known || obj.GetName() != "a" {
			t.Fatalf("%T became %v", test.obj, trimmed)
		}
		var got []string
		for _, entry := range obj.GetManagedFields() {
			got = append(got, entry.Manager)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("of %T the writers %q are known, want %q", obj, got, test.want)
		}
	}
}
