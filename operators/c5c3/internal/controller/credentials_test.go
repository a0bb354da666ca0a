package controller

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/apply"
)

func TestASecretThatIsNotInTheCacheYetIsNotTakenOverEither(t *testing.T) {
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
