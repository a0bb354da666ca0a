package controller

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

func TestTheOldestControlPlaneWinsAndTiesAreBrokenByName(t *testing.T) {
	at := func(name string, second int64) c5c3v1alpha1.ControlPlane {
		return c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0)}}
	}
	for want, all := range map[string][]c5c3v1alpha1.ControlPlane{
		"":  nil,
		"b": {at("c", 3), at("b", 1), at("a", 2)},
		"a": {at("b", 1), at("a", 1)},
	} {
		if got := oldest(all); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

// withoutLists is a cluster in which every list fails. A synced cache answers all lists,
// so an API server cannot produce this.
func withoutLists(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(objects...).WithStatusSubresource(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return errors.New("the cache is not started")
			},
		}).Build()
}

func TestAFailedListOfControlPlanesIsAnError(t *testing.T) {
	refusal, err := refuseDuplicates(t.Context(), &pass.Tools{Access: kube.Access{Client: withoutLists()}}, &c5c3v1alpha1.ControlPlane{})
	if err == nil {
		t.Errorf("got %+v and no error", refusal)
	}
}
