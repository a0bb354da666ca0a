package externalsecret

import (
	"errors"
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestExternalSecretsMatchTheirGoldenFiles(t *testing.T) {
	cp := fixture.Minimal()
	golden.CompareYAML(t, "minimal/externalsecret.yaml", New(cp, Delivery{
		Name: cp.DatabaseSecretName(), Path: "openstack/keystone/openstack/controlplane/db", Properties: []string{"username", "password"},
	}))
}

func TestTheDeliveredSecretIsOwnedByItsExternalSecret(t *testing.T) {
	es := New(fixture.Minimal(), Delivery{Name: "x", Path: "p", Properties: []string{"password"}})
	if es.Spec.Target.CreationPolicy != esov1.CreatePolicyOwner || es.Spec.Target.Name != es.Name {
		t.Errorf("got %+v: the Secret must go with it", es.Spec.Target)
	}
}

func TestAForeignSecretMissingFromTheCacheIsNotAdopted(t *testing.T) {
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "admin"}}
	delivered := theirs.DeepCopy()
	delivered.OwnerReferences = []metav1.OwnerReference{{Kind: "ExternalSecret", Name: theirs.Name, Controller: new(true)}}
	empty := fake.NewFakeClient()
	for name, c := range map[string]struct {
		cache, live client.Reader
		refused     bool
	}{
		"no Secret":                    {empty, empty, false},
		"in the cache":                 {fake.NewFakeClient(theirs), empty, true},
		"not in the cache yet":         {empty, fake.NewFakeClient(theirs), true},
		"of the ExternalSecret":        {fake.NewFakeClient(delivered), fake.NewFakeClient(theirs), false},
		"of the ExternalSecret by now": {empty, fake.NewFakeClient(delivered), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkUnclaimed(t.Context(), client.ObjectKeyFromObject(theirs), c.cache, c.live)
			if errors.Is(err, apply.ErrNotOwned) != c.refused || (err != nil) != c.refused {
				t.Errorf("refused: %v, expected %t", err, c.refused)
			}
		})
	}
}
