package permission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/c5c3/forge/internal/common/controller"
)

const source = `package controller

// +kubebuilder:rbac:groups="",resources=secrets;pods,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
`

func TestPermissionsWithoutAMarkerAreReported(t *testing.T) {
	got, err := missing(source, clientgoscheme.Scheme, []controller.Watched{
		{Object: &corev1.Pod{}},
		{Object: &appsv1.Deployment{}, Written: true},
		{Object: &corev1.Secret{}, Written: true},
		{Object: &appsv1.StatefulSet{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create secrets of group ", "update secrets of group ", "list statefulsets of group apps", "watch statefulsets of group apps",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

func TestAKindThatTheSchemeLacksIsAnError(t *testing.T) {
	if _, err := missing(source, runtime.NewScheme(), []controller.Watched{{Object: &corev1.Pod{}}}); err == nil {
		t.Error("nothing is wrong")
	}
}
