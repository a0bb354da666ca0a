package controller

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func secretOf(k *keystonev1alpha1.Keystone, name string, data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: name}, Data: map[string][]byte{}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret
}

func TestKnownSecretsAreRedactedInToolOutput(t *testing.T) {
	k := fixture.Minimal()
	k.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: "keystone-ldap"}
	s := fixture.Scope(k)
	c := fake.NewClientBuilder().WithScheme(Controller.Scheme()).WithObjects(
		secretOf(k, k.Spec.Database.SecretRef.Name, map[string]string{"username": "keystone", "password": "db password"}),
		secretOf(k, k.Spec.Bootstrap.AdminPasswordSecretRef.Name, map[string]string{"password": "admin password"}),
		secretOf(k, "keystone-ldap", map[string]string{"keystone.conf": "[ldap]\npassword = ldap password\npage_size = 100\n"}),
	).Build()
	s.Client, s.APIReader, s.Refs = c, c, c
	s.Owned, s.Jobs = secrets.Owned{Client: c, APIReader: c, Scheme: Controller.Scheme()}, &job.Runner{}
	if outcome := reconcileSecrets(t.Context(), s); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	if outcome := pass.Database.ReconcileConnection(t.Context(), s.Pass); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	if outcome := settings.Reconcile(t.Context(), s); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	hidden := service.Runner(s.Pass).Hidden
	const url = "mysql+pymysql://keystone:db%20password@db.example.com:3306/keystone?charset=utf8"
	for _, want := range []string{"db password", "admin password", url, "ldap password"} {
		if !slices.Contains(hidden, want) {
			t.Errorf("%q is not hidden", want)
		}
	}
	if slices.Contains(hidden, "100") {
		t.Error("a number is hidden, and with it every other one in an error")
	}
	if len(s.Jobs.Hidden) > 0 {
		t.Error("the values of one Keystone reach the passes of others")
	}
}
