package controller

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func TestThePasswordOfTheServiceUserIsHiddenAndItsNameIsNot(t *testing.T) {
	placement := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "placement"}}
	placement.Spec.ServiceUserSecretRef = commonv1.SecretRefSpec{Name: "user"}
	c := fake.NewClientBuilder().WithScheme(Controller.Scheme()).WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "user"},
		Data:       map[string][]byte{"username": []byte("placement"), "password": []byte("pa$$word")},
	}).Build()
	p := service.NewPass(&service.Tools{Refs: c}, &definition, placement)
	if _, _, err := readUser(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pa$$word", "pa$$$$word"} {
		if !slices.Contains(p.Hidden(), want) {
			t.Errorf("%q is not hidden", want)
		}
	}
	if slices.Contains(p.Hidden(), "placement") {
		t.Error("errors lose the name of the service and of its options")
	}
}
