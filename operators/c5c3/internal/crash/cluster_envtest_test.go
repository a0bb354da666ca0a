//go:build integration

package crash

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
)

func TestAControlPlaneUsesTheClusterNameAndClusterDomain(t *testing.T) {
	t.Parallel()
	c := env.Client(t, controller.Scheme())
	namespace, err := prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	secrets.Put("east/openstack/keystone/"+namespace+"/controlplane/db", map[string]string{"username": "keystone", "password": "p"})
	secrets.Put("east/bootstrap/"+namespace+"/controlplane-keystone/admin", map[string]string{"password": "p"})
	settings := startup.Config{Namespace: namespace, Cluster: cluster.Settings{Name: "east", Domain: "k8s.example.com"}}
	options := controller.Options{DiscoveryInterval: time.Second, Adjust: func(t *pass.Tools) {
		testutil.Asking(korc)(t)
		t.SpreadTime = time.Second
	}}
	ended := make(chan error, 1)
	go func() { ended <- testutil.RunAs(t.Context(), asOperator, settings, options, logr.Discard()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	})
	expect.Condition(t, c, controlPlane(namespace), "Ready", metav1.ConditionTrue, "AllReady")
	if stored := secrets.Stored(fmt.Sprintf("east/openstack/keystone/%s/controlplane/admin/app-credential", namespace)); stored == nil {
		t.Error("the store has no credential below the name of the cluster")
	}
	if stored := secrets.Stored(fmt.Sprintf("openstack/keystone/%s/controlplane/admin/app-credential", namespace)); stored != nil {
		t.Error("the store has a credential beside the name of the cluster")
	}
	endpoint := &orcv1alpha1.Endpoint{
		ObjectMeta: metav1.ObjectMeta{Name: controlPlane(namespace).IdentityEndpointName(), Namespace: namespace},
	}
	expect.Object(t, c, endpoint, func() error {
		want := "http://controlplane-keystone." + namespace + ".svc.k8s.example.com:5000/v3"
		if got := endpoint.Spec.Resource.URL; got != want {
			return errors.New("it has the URL " + got)
		}
		return nil
	})
}
