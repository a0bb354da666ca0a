//go:build integration

package controller_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/running"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	"github.com/c5c3/forge/operators/glance/internal/controller"
)

// glances describes Glance to the conformance suite.
var glances = conformance.Service[*glancev1alpha1.Glance]{
	Program: running.Program{
		Options: operator.Options{
			Name: "glance-operator", Scheme: controller.Controller.Scheme(), CacheTransform: controller.Controller.Trim(),
		},
		Setup: controller.Controller.SetupWith,
	},
	Definition: controller.Controller.Definition,
	Vocabulary: glancev1alpha1.Vocabularies()[0],
	New:        glance,
	Inputs: func(namespace string) []client.Object {
		return []client.Object{
			secret(namespace, "glance-db", "glance", "database-password"),
			secret(namespace, "glance-user", "glance", "user-pa$$word"),
			backend(namespace, "images"), credentials(namespace, "images"),
		}
	},
	Children: []string{"CronJob glance-clean-up"},
	Drifts: []conformance.Drift{
		conformance.DriftOf(&batchv1.CronJob{}, "glance-clean-up", "schedule",
			func(c *batchv1.CronJob) *string { return &c.Spec.Schedule }, "@yearly"),
	},
	Watches:  []string{"cronjobs.batch", "glancebackends.glance.openstack.c5c3.io"},
	Endpoint: func(namespace string) string { return "http://glance." + namespace + ".svc.cluster.local:9292" },
	SLURP:    glancev1alpha1.SLURP,
	// The Jobs for the configuration, the schema, its check and the user, then the API pods
	// and the answer of the API: how many of them share a write depends on timing.
	StatusWrites: 7,
}

// world is the environment that all tests of this package share.
var world conformance.World

func TestMain(m *testing.M) { conformance.Main(m, glances, &world, backends.Vocabulary) }

func TestAGlanceConforms(t *testing.T) { conformance.Run(t, glances, &world) }

// backends describes GlanceBackend to the conformance suite.
var backends = conformance.Attached[*glancev1alpha1.Glance, *glancev1alpha1.GlanceBackend]{
	Service: glances, Vocabulary: glancev1alpha1.Vocabularies()[1],
	New: backend, Credentials: credentials,
	Duplicate: func(b, of *glancev1alpha1.GlanceBackend) { b.Spec.S3.Bucket = of.Spec.S3.Bucket },
	Item:      "3 images",
	Condition: glancev1alpha1.ConditionBackendsReady,
	Trigger: func(resource client.ObjectKey) client.Object {
		return &glancev1alpha1.Glance{ObjectMeta: metav1.ObjectMeta{Namespace: resource.Namespace, Name: "glance"}}
	},
	// Of each of two: that it is accepted, and that all pods have it, maybe after the other one.
	StatusWrites: 8,
}

func TestAGlanceBackendConforms(t *testing.T) { conformance.RunAttached(t, backends, &world) }

func secret(namespace, name, user, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{"username": user, "password": password},
	}
}

// backend is a GlanceBackend in a bucket of its own name.
func backend(namespace, name string) *glancev1alpha1.GlanceBackend {
	return &glancev1alpha1.GlanceBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: glancev1alpha1.GlanceBackendSpec{
			GlanceRef: commonv1.ServiceReference{Name: "glance"},
			BackendSpec: glancev1alpha1.BackendSpec{Type: glancev1alpha1.BackendS3, S3: &glancev1alpha1.S3Spec{
				Host: "s3.example.com", Bucket: name, CredentialsSecretRef: commonv1.CredentialsReference{Name: name + "-credentials"},
			}},
		},
	}
}

// credentials is the Secret of a backend.
func credentials(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-credentials"},
		StringData: map[string]string{"accessKey": "s3-access-key", "secretKey": "s3-$ecret-key"},
	}
}

// glance is a Glance with an external database and cache.
func glance(namespace, name string) *glancev1alpha1.Glance {
	return &glancev1alpha1.Glance{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: glancev1alpha1.GlanceSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/glance", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "glance", SecretRef: commonv1.SecretRefSpec{Name: "glance-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "glance-user"},
		},
	}
}
