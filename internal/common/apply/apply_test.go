package apply_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/apply"
)

func TestStaysIsTrueOnlyForAnExistingObjectNotBeingDeleted(t *testing.T) {
	now := metav1.Now()
	object := func(uid types.UID, deleted *metav1.Time) *corev1.Service {
		meta := metav1.ObjectMeta{Namespace: "openstack", Name: "keystone", UID: uid, DeletionTimestamp: deleted}
		if deleted != nil {
			meta.Finalizers = []string{"example.com/finalizer"}
		}
		return &corev1.Service{ObjectMeta: meta}
	}
	for what, test := range map[string]struct {
		live []client.Object
		want bool
	}{
		"the object":                 {[]client.Object{object("one", nil)}, true},
		"a terminating object":       {[]client.Object{object("one", &now)}, false},
		"another object of the name": {[]client.Object{object("two", nil)}, false},
		"no object any longer":       {nil, false},
	} {
		c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(test.live...).Build()
		if got, err := apply.Stays(t.Context(), c, object("one", nil)); got != test.want || err != nil {
			t.Errorf("%s: %t, %v; want %t", what, got, err, test.want)
		}
	}
}
