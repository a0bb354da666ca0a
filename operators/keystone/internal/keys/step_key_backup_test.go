package keys

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/pushsecret"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestDamagedKeysDoNotOverwriteTheBackup(t *testing.T) {
	k := fixture.Minimal()
	data, err := fernet.Generate(3)
	if err != nil {
		t.Fatal(err)
	}
	good := fixture.Source(pass.FernetKeysName(k), nil)
	good.Namespace, good.Data = k.Namespace, data
	good.Annotations = map[string]string{service.AnnotationClaimedBy: string(k.UID)}
	approved := fernetBackup.push(cluster.Settings{}, k, good)
	approved.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(k, k.GroupVersionKind())}
	damaged := good.DeepCopy()
	damaged.Data = maps.Clone(data)
	damaged.Data["1"] = []byte("damaged")

	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(damaged, approved).Build()
	s := fixture.Scope(k)
	s.Client, s.ThirdParty, s.Owned = c, c, secrets.Owned{Client: c, APIReader: c, Scheme: fixture.Scheme()}
	if _, _, err := ensureBackup(t.Context(), s, fernetBackup); err != nil {
		t.Fatal(err)
	}
	live, err := pushsecret.Find(t.Context(), s, approved.Name)
	if err != nil || live == nil {
		t.Fatalf("the PushSecret is %v, error %v", live, err)
	}
	if got, want := live.Annotations[secrets.ContentHashAnnotation], secrets.ContentHash(good); got != want {
		t.Errorf("the PushSecret asks for a push of the content %s, want that of the good keys, %s", got, want)
	}
}
