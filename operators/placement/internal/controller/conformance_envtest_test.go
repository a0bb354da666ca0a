//go:build integration

package controller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/running"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
	"github.com/c5c3/forge/operators/placement/internal/controller"
)

// placements describes Placement to the conformance suite.
var placements = conformance.Service[*placementv1alpha1.Placement]{
	Program: running.Program{
		Options: operator.Options{
			Name: "placement-operator", Scheme: controller.Controller.Scheme(), CacheTransform: controller.Controller.Trim(),
		},
		Setup: controller.Controller.SetupWith,
	},
	Definition: controller.Controller.Definition,
	Exemplary:  true,
	Vocabulary: placementv1alpha1.Vocabularies()[0],
	New:        placement,
	Inputs: func(namespace string) []client.Object {
		return []client.Object{
			secret(namespace, "placement-db", "placement", "database-password"),
			secret(namespace, "placement-user", "placement", "user-pa$$word"),
		}
	},
	Endpoint:          func(namespace string) string { return "http://placement." + namespace + ".svc.cluster.local:8778" },
	SLURP:             placementv1alpha1.SLURP,
	MigratesAfterSync: true,
	// The Jobs for the configuration, the schema, its check and the user, then the API pods
	// and the answer of the API: how many of them share a write depends on timing.
	StatusWrites: 7,
}

// world is the environment that all tests of this package share.
var world conformance.World

func TestMain(m *testing.M) { conformance.Main(m, placements, &world) }

func TestAPlacementConforms(t *testing.T) { conformance.Run(t, placements, &world) }

func secret(namespace, name, user, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{"username": user, "password": password},
	}
}

// placement is a Placement with an external database and cache.
func placement(namespace, name string) *placementv1alpha1.Placement {
	return &placementv1alpha1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: placementv1alpha1.PlacementSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "placement-user"},
		},
	}
}
