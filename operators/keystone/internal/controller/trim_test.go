package controller

import (
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestOnlyWhatOthersOwnIsTrimmedInTheCache(t *testing.T) {
	for trimmed, objects := range map[bool][]client.Object{
		true:  {&mariadbv1alpha1.MariaDB{}, &esov1.ExternalSecret{}, &esov1.ClusterSecretStore{}},
		false: {&mariadbv1alpha1.Database{}, &mariadbv1alpha1.User{}, &mariadbv1alpha1.Grant{}},
	} {
		for _, obj := range objects {
			obj.SetName("a")
			obj.SetAnnotations(map[string]string{"a": "b"})
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
			if _, err := TrimForeign(obj); err != nil {
				t.Fatal(err)
			}
			if got := obj.GetManagedFields() == nil; got != trimmed || obj.GetName() != "a" || obj.GetAnnotations()["a"] != "b" {
				t.Errorf("%T is trimmed: %t, want %t", obj, got, trimmed)
			}
		}
	}
}
