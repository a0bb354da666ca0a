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
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	"github.com/c5c3/forge/operators/horizon/internal/controller"
)

// horizons describes Horizon to the conformance suite.
var horizons = conformance.Service[*horizonv1alpha1.Horizon]{
	Program: running.Program{
		Options: operator.Options{
			Name: "horizon-operator", Scheme: controller.Controller.Scheme(), CacheTransform: controller.Controller.Trim(),
		},
		Setup: controller.Controller.SetupWith,
		Trigger: func(resource client.ObjectKey) client.Object {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: resource.Namespace, Name: horizonv1alpha1.SecretKeyName(resource.Name),
			}}
		},
	},
	Definition:    controller.Controller.Definition,
	Vocabulary:    horizonv1alpha1.Vocabularies()[0],
	New:           horizon,
	Inputs:        func(string) []client.Object { return nil },
	Endpoint:      func(namespace string) string { return "http://horizon." + namespace + ".svc.cluster.local:8080" },
	Children:      []string{"Secret " + secretKeyName},
	Irreplaceable: []string{secretKeyName},
	// The pods, and the answer of the login page.
	StatusWrites: 4,
	DeletionWrites: map[string]int{
		"patch horizons.horizon.openstack.c5c3.io": 1, "delete secrets": 1,
	},
}

const secretKeyName = "horizon-secret-key"

// world is the environment that all tests of this package share.
var world conformance.World

func TestMain(m *testing.M) { conformance.Main(m, horizons, &world) }

func TestAHorizonConforms(t *testing.T) { conformance.Run(t, horizons, &world) }

// horizon is a Horizon with an external cache.
func horizon(namespace, name string) *horizonv1alpha1.Horizon {
	return &horizonv1alpha1.Horizon{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: horizonv1alpha1.HorizonSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/horizon", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			Identity: horizonv1alpha1.HorizonIdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
		},
	}
}
