package operators

import (
	"context"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ControlPlanes are what the c5c3 operator has to do with. Their Keystones are resources
// without pods, because the Keystone operator does not run.
var ControlPlanes = &Operator{
	Name: "c5c3", Kind: "ControlPlane", Plural: "ControlPlanes", Controller: "controlplane",
	CRDs:        []string{"operators/*/config/crd/bases", "deploy/infra/memcached-operator/crd.yaml"},
	AddToScheme: c5c3v1alpha1.AddToScheme,
	Rules:       rules,
	Alone:       true,

	Empty:   func() Resource { return &c5c3v1alpha1.ControlPlane{} },
	New:     func(key client.ObjectKey) Resource { return minimal(key) },
	Prepare: prepareControlPlane,
	Controllers: func(s *Standins) []standin.Standin {
		memcached := schema.GroupVersionKind{Group: "memcached.c5c3.io", Version: "v1beta1", Kind: "Memcached"}
		return []standin.Standin{
			s.MariaDB, standin.NewReady(memcached), s.Secrets, s.KORC,
			standin.NewService(keystonev1alpha1.GroupVersion.WithKind("Keystone")),
		}
	},
	Hosts: func(key client.ObjectKey) []string {
		address, err := url.Parse(keystonev1alpha1.LocalEndpoint(key.Namespace, minimal(key).KeystoneName()))
		if err != nil {
			return nil
		}
		return []string{address.Hostname()}
	},
	Ports:  []string{keystonePort},
	Answer: func(s *Standins) http.Handler { return http.HandlerFunc(s.answerLogin) },

	Grow: change(func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.Replicas = new(int32(2)) }),
	// The URL has no host.
	Spoil: change(func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.PublicEndpoint = "https://" }),
	Mend:  change(func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.PublicEndpoint = "" }),
	Break: func(s *Standins, key client.ObjectKey) {
		s.MariaDB.Set("MariaDB", key.Namespace, c5c3v1alpha1.DefaultDatabaseCluster, standin.Fail("the volume is full"))
	},
}

// minimal returns what a user has to write: the operator creates the database, the cache
// and the credentials.
func minimal(key client.ObjectKey) *c5c3v1alpha1.ControlPlane {
	return &c5c3v1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: c5c3v1alpha1.ControlPlaneSpec{
			OpenStackRelease: "2025.1",
			Services:         c5c3v1alpha1.ServicesSpec{Keystone: &c5c3v1alpha1.ServiceKeystoneSpec{}},
		},
	}
}

// prepareControlPlane stores the credentials where the operator has them fetched from.
func prepareControlPlane(_ context.Context, _ client.Client, s *Standins, key client.ObjectKey) error {
	cp, settings := minimal(key), cluster.Settings{}
	s.Secrets.Put(keystonev1alpha1.StorePath(settings, cp.Namespace, cp.Name, "db"),
		map[string]string{"username": "keystone", "password": "database-password"})
	s.Secrets.Put(keystonev1alpha1.AdminPasswordPath(settings, cp.Namespace, cp.KeystoneName()),
		map[string]string{"password": "admin-password"})
	return nil
}
