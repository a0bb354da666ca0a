//go:build integration

package controller_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/running"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	"github.com/c5c3/forge/operators/barbican/internal/controller"
)

// barbicans describes Barbican to the conformance suite.
var barbicans = conformance.Service[*barbicanv1alpha1.Barbican]{
	Program: running.Program{
		Options: operator.Options{
			Name: "barbican-operator", Scheme: controller.Controller.Scheme(), CacheTransform: controller.Controller.Trim(),
		},
		Setup: controller.Controller.SetupWith,
	},
	Definition: controller.Controller.Definition,
	Vocabulary: barbicanv1alpha1.Vocabularies()[0],
	New:        barbican,
	Inputs: func(namespace string) []client.Object {
		return []client.Object{
			secret(namespace, "barbican-db", "barbican", "database-password"),
			secret(namespace, "barbican-user", "barbican", "user-pa$$word"),
		}
	},
	Endpoint:      func(namespace string) string { return "http://barbican." + namespace + ".svc.cluster.local:9311" },
	SLURP:         barbicanv1alpha1.SLURP,
	Skips:         []string{schema.TaskMigrate, schema.TaskContract},
	Children:      []string{"CronJob barbican-clean-up", "PushSecret " + keySecretName + "-backup", "Secret " + keySecretName},
	Irreplaceable: []string{keySecretName},
	Drifts: []conformance.Drift{
		conformance.DriftOf(&batchv1.CronJob{}, "barbican-clean-up", "schedule",
			func(c *batchv1.CronJob) *string { return &c.Spec.Schedule }, "@yearly"),
	},
	Watches: []string{"barbicansecretstores.barbican.openstack.c5c3.io", "cronjobs.batch", "pushsecrets.external-secrets.io"},
	Events:  []string{"KeyEncryptionKeyGenerated"},
	// The Jobs for the configuration, the schema, its check and the user, then the API pods
	// and the answer of the API: how many of them share a write depends on timing.
	StatusWrites: 8,
	DeletionWrites: map[string]int{
		"delete pushsecrets.external-secrets.io": 1, "patch barbicans.barbican.openstack.c5c3.io": 1,
		"update barbicans.barbican.openstack.c5c3.io/status": 1,
	},
}

const keySecretName = "barbican-key-encryption-key"

// world is the environment that all tests of this package share.
var world conformance.World

func TestMain(m *testing.M) { conformance.Main(m, barbicans, &world, secretStores.Vocabulary) }

func TestABarbicanConforms(t *testing.T) { conformance.Run(t, barbicans, &world) }

// secretStores describes BarbicanSecretStore to the conformance suite.
var secretStores = conformance.Attached[*barbicanv1alpha1.Barbican, *barbicanv1alpha1.BarbicanSecretStore]{
	Service: barbicans, Vocabulary: barbicanv1alpha1.Vocabularies()[1],
	New: secretStore, Credentials: credentials,
	// There is one plugin for Vault.
	Alone: true, Duplicate: func(*barbicanv1alpha1.BarbicanSecretStore, *barbicanv1alpha1.BarbicanSecretStore) {},
	Need:      func(b *barbicanv1alpha1.Barbican, name string) { b.Spec.DefaultSecretStore = name },
	Item:      "3 secrets",
	Condition: barbicanv1alpha1.ConditionSecretStoresReady,
	Trigger: func(resource client.ObjectKey) client.Object {
		return &barbicanv1alpha1.Barbican{ObjectMeta: metav1.ObjectMeta{Namespace: resource.Namespace, Name: "barbican"}}
	},
	// That it is accepted, and that all pods have it.
	StatusWrites: 8,
}

func TestABarbicanSecretStoreConforms(t *testing.T) { conformance.RunAttached(t, secretStores, &world) }

// secretStore is a BarbicanSecretStore in an engine of its own name.
func secretStore(namespace, name string) *barbicanv1alpha1.BarbicanSecretStore {
	return &barbicanv1alpha1.BarbicanSecretStore{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: barbicanv1alpha1.BarbicanSecretStoreSpec{
			BarbicanRef: commonv1.ServiceReference{Name: "barbican"},
			SecretStoreSpec: barbicanv1alpha1.SecretStoreSpec{Type: barbicanv1alpha1.StoreVault, Vault: barbicanv1alpha1.VaultSpec{
				URL: "https://openbao.example.com:8200", KVMountpoint: name,
				CredentialsSecretRef: commonv1.CredentialsReference{Name: name + "-credentials"},
			}},
		},
	}
}

// credentials is the Secret of a store.
func credentials(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-credentials"},
		StringData: map[string]string{"role-id": "barbican-role", "secret-id": "$ecret-of-the-role"},
	}
}

func secret(namespace, name, user, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{"username": user, "password": password},
	}
}

// barbican is a Barbican with an external database and cache.
func barbican(namespace, name string) *barbicanv1alpha1.Barbican {
	return &barbicanv1alpha1.Barbican{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: barbicanv1alpha1.BarbicanSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/barbican", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "barbican", SecretRef: commonv1.SecretRefSpec{Name: "barbican-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "barbican-user"},
		},
	}
}
