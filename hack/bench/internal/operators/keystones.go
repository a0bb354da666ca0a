package operators

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Keystones are what the Keystone operator has to do with.
var Keystones = &Operator{
	Name: "keystone", Kind: "Keystone", Plural: "Keystones", Controller: "keystone",
	CRDs:        []string{"operators/keystone/config/crd/bases"},
	AddToScheme: keystonev1alpha1.AddToScheme,
	Rules:       rules,

	Empty:   func() Resource { return &keystonev1alpha1.Keystone{} },
	New:     func(key client.ObjectKey) Resource { return brownfield(key) },
	Prepare: prepareKeystone,
	Controllers: func(s *Standins) []standin.Standin {
		return []standin.Standin{standin.NewDeployments(), s.Jobs, s.MariaDB, s.Secrets}
	},
	Hosts: func(key client.ObjectKey) []string {
		return []string{cluster.Settings{}.ServiceHost(key.Name, key.Namespace)}
	},
	Ports:  []string{keystonePort},
	Answer: func(*Standins) http.Handler { return http.HandlerFunc(answer) },

	Grow:  change(func(k *keystonev1alpha1.Keystone) { k.Spec.Replicas++ }),
	Spoil: change(func(k *keystonev1alpha1.Keystone) { k.Spec.Fernet.RotationSchedule = "whenever" }),
	Mend: change(func(k *keystonev1alpha1.Keystone) {
		k.Spec.Fernet.RotationSchedule = keystonev1alpha1.DefaultRotationSchedule
	}),
	Break: func(s *Standins, key client.ObjectKey) {
		s.Jobs.Set(key.Namespace, key.Name+"-db-sync", standin.Fail("the schema is damaged"))
	},
	Slow: func(s *Standins, key client.ObjectKey) {
		for _, family := range []string{"fernet", "credential"} {
			s.Secrets.Set("PushSecret", key.Namespace, key.Name+"-"+family+"-keys-backup", standin.Hang())
		}
	},
	Populate: populate,
}

// brownfield returns a Keystone with its own database, cache and Secrets.
func brownfield(key client.ObjectKey) *keystonev1alpha1.Keystone {
	return &keystonev1alpha1.Keystone{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: keystonev1alpha1.KeystoneSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.1"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					// Keystones that share a database block each other.
					Host: key.Name + "." + key.Namespace + ".example.com", Database: "keystone",
					SecretRef: commonv1.SecretRefSpec{Name: databaseSecret(key)},
				},
			},
			Bootstrap: keystonev1alpha1.BootstrapSpec{
				AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: adminSecret(key)},
			},
		},
	}
}

func databaseSecret(key client.ObjectKey) string { return key.Name + "-database" }

func adminSecret(key client.ObjectKey) string { return key.Name + "-admin" }

func prepareKeystone(ctx context.Context, c client.Client, _ *Standins, key client.ObjectKey) error {
	for name, data := range map[string]map[string]string{
		databaseSecret(key): {"username": "keystone", "password": "database-password"},
		adminSecret(key):    {"password": "admin-password"},
	} {
		meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: name}
		if err := objects.Create(ctx, c, &corev1.Secret{ObjectMeta: meta, StringData: data}); err != nil {
			return err
		}
	}
	return nil
}

// answer is the API of all Keystones: it is healthy, and accepts every password.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.Header().Set("X-Subject-Token", "token-of-the-bench")
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = w.Write([]byte("{}"))
}
