package keysecret

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// locks are the keys of a Harbour: one of at least eight characters under "lock".
var locks = Keys{
	Name: "locks", Needed: true, Encrypted: "the cargo", Abandon: "sink it", Loss: "the cargo stays locked",
	Validate: func(data map[string][]byte) error {
		if len(data["lock"]) < 8 {
			return errors.New("it has no lock")
		}
		return nil
	},
}

func pass(t *testing.T) *service.Pass {
	t.Helper()
	h := instance.Brownfield()
	h.UID = "the-harbour"
	return instance.Pass(t, h, interceptor.Funcs{})
}

// lockSecret is the Secret with the keys.
func lockSecret(p *service.Pass, annotations map[string]string) *corev1.Secret {
	meta := p.Meta(locks.Of(p))
	meta.UID, meta.Annotations = "source", annotations
	return &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"lock": []byte("hunter2-lock")}}
}

func TestAPushSecretMatchesItsGoldenFileAndCarriesNoKey(t *testing.T) {
	p := pass(t)
	push := locks.push(p, lockSecret(p, nil))
	golden.CompareYAML(t, "pushsecret.yaml", push)
	if strings.Contains(fmt.Sprint(push), "hunter2") {
		t.Error("a PushSecret quotes what it pushes")
	}
}

func TestStorePathsArePrefixedWithTheClusterName(t *testing.T) {
	p := pass(t)
	p.Cluster = cluster.Settings{Name: "east"}
	push, request := locks.push(p, lockSecret(p, nil)), locks.request(p)
	got := []string{push.Spec.Data[0].Match.RemoteRef.RemoteKey, request.Spec.DataFrom[0].Extract.Key}
	want := []string{"east/openstack/harbour/openstack/harbour/locks", "east/openstack/harbour/openstack/harbour/locks"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths in the store (-want +got):\n%s", diff)
	}
	message := backupReport{}.outcome(p, []Keys{locks}).Message()
	if !strings.Contains(message, "Secret harbour-locks are stored under east/openstack/harbour/openstack/harbour in ") {
		t.Errorf("the condition says %q", message)
	}
}

func TestDamagedKeysDoNotOverwriteTheBackup(t *testing.T) {
	p := pass(t)
	good := lockSecret(p, map[string]string{service.AnnotationClaimedBy: "the-harbour"})
	approved := locks.push(p, good)
	approved.OwnerReferences = []metav1.OwnerReference{{Kind: "Harbour", UID: "the-harbour", Controller: new(true)}}
	damaged := good.DeepCopy()
	damaged.Data = map[string][]byte{"lock": []byte("rust")}
	for _, err := range []error{p.Client.Create(t.Context(), approved), p.Client.Create(t.Context(), damaged)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := locks.ensureCopy(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	live := &esov1alpha1.PushSecret{}
	if err := p.Client.Get(t.Context(), p.Key(approved.Name), live); err != nil {
		t.Fatal(err)
	}
	if got, want := live.Annotations[secrets.ContentHashAnnotation], secrets.ContentHash(good); got != want {
		t.Errorf("the PushSecret asks for a push of the content %s, want that of the good keys, %s", got, want)
	}
}

func TestACopyFromTheStoreSaysWhichDatabaseItBelongsTo(t *testing.T) {
	p := pass(t)
	secret := lockSecret(p, map[string]string{commonv1.AnnotationDatabase: otherDatabase})
	push := locks.push(p, secret)
	if push.Spec.Template == nil || push.Spec.Template.Data[databaseEntry] != otherDatabase ||
		push.Annotations[commonv1.AnnotationDatabase] != otherDatabase {
		t.Fatalf("the copy does not say it: %+v", push)
	}
	restored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret.Name}, Data: map[string][]byte{databaseEntry: []byte(otherDatabase)}}
	maps.Copy(restored.Data, secret.Data)
	got := unpacked(restored)
	if service.OtherDatabase(p, got) != otherDatabase || len(got.Data) != 1 || locks.Validate(got.Data) != nil {
		t.Errorf("what is restored from it has %d entries and the annotations %v", len(got.Data), got.Annotations)
	}
}
