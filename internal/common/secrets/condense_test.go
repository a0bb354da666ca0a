package secrets_test

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/secrets"
)

func TestALargeSecretIsReadFromTheAPIServerInsteadOfTheCache(t *testing.T) {
	for name, c := range map[string]struct {
		data, annotation int
		omitted          bool
	}{
		"with keys":              {data: 20 << 10},
		"with a large value":     {data: 1 << 20, omitted: true},
		"with large annotations": {data: 1, annotation: 200 << 10, omitted: true},
	} {
		live := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys", Annotations: map[string]string{"note": strings.Repeat("a", c.annotation)}},
			Data:       map[string][]byte{"0": bytes.Repeat([]byte("k"), c.data)},
		}
		cached := live.DeepCopy()
		secrets.Condense(cached)
		if got := len(cached.Data) == 0 && len(cached.Annotations["note"]) == 0; got != c.omitted {
			t.Errorf("%s: the cache leaves it out: %t", name, got)
		}
		owned := secrets.Owned{
			Client: fake.NewClientBuilder().WithObjects(cached).Build(), APIReader: fake.NewClientBuilder().WithObjects(live).Build(),
		}
		found, err := owned.Find(t.Context(), client.ObjectKeyFromObject(live))
		if err != nil || len(found.Data["0"]) != c.data || len(found.Annotations["note"]) != c.annotation {
			t.Errorf("%s: a pass reads %d bytes with a note of %d (%v)", name, len(found.Data["0"]), len(found.Annotations["note"]), err)
		}
	}
}
