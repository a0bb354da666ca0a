//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/cluster"
	common "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
)

func TestAControlPlaneUsesTheClusterNameAndClusterDomain(t *testing.T) {
	t.Parallel()
	k := controlPlanes()
	program := k.Program
	setup := program.Setup
	program.Setup = func(ctx context.Context, mgr ctrl.Manager, settings startup.Config, replaced common.Options) error {
		settings.Cluster = cluster.Settings{Name: "east", Domain: "k8s.example.com"}
		return setup(ctx, mgr, settings, replaced)
	}
	c, namespace := conform.Admin, env.Namespace(t)
	secrets.Put("east/openstack/keystone/"+namespace+"/controlplane/db", map[string]string{"username": "keystone", "password": "p"})
	secrets.Put("east/bootstrap/"+namespace+"/controlplane-keystone/admin", map[string]string{"password": "p"})
	cp := k.New(namespace)
	objects.Create(t, c, cp)
	running.Start(t, program, conform.AsOperator, namespace, common.Options{})
	expect.Condition(t, c, cp, "Ready", metav1.ConditionTrue, "AllReady")
	if stored := secrets.Stored(fmt.Sprintf("east/openstack/keystone/%s/controlplane/admin/app-credential", namespace)); stored == nil {
		t.Error("the store has no credential below the name of the cluster")
	}
	if stored := secrets.Stored(fmt.Sprintf("openstack/keystone/%s/controlplane/admin/app-credential", namespace)); stored != nil {
		t.Error("the store has a credential beside the name of the cluster")
	}
	endpoint := &orcv1alpha1.Endpoint{
		ObjectMeta: metav1.ObjectMeta{Name: cp.IdentityEndpointName(), Namespace: namespace},
	}
	expect.Object(t, c, endpoint, func() error {
		want := "http://controlplane-keystone." + namespace + ".svc.k8s.example.com:5000/v3"
		if got := endpoint.Spec.Resource.URL; got != want {
			return errors.New("it has the URL " + got)
		}
		return nil
	})
}
