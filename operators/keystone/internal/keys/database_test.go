package keys

import (
	"context"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

const otherDatabase = "elsewhere.openstack/keystone"

// keySecret is the Secret with the token keys of the Keystone of the fixture.
func keySecret(t *testing.T, s *pass.Scope, annotations map[string]string) *corev1.Secret {
	t.Helper()
	data, err := fernet.Generate(3)
	if err != nil {
		t.Fatal(err)
	}
	meta := s.Meta(pass.FernetKeysName(s.Resource))
	meta.Annotations = annotations
	return &corev1.Secret{ObjectMeta: meta, Data: data}
}

// withSecret is a pass over the Keystone of the fixture, which is installed, in a cluster
// with the Secret.
func withSecret(t *testing.T, secret func(*pass.Scope) *corev1.Secret) *pass.Scope {
	t.Helper()
	k := fixture.Installed(fixture.Minimal())
	k.UID = "the-keystone"
	s := fixture.Scope(k)
	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(secret(s)).Build()
	s.Client, s.ThirdParty, s.Owned = c, c, secrets.Owned{Client: c, APIReader: c, Scheme: fixture.Scheme()}
	return s
}

func live(t *testing.T, s *pass.Scope) *corev1.Secret {
	t.Helper()
	found := &corev1.Secret{}
	if err := s.Client.Get(t.Context(), s.Key(pass.FernetKeysName(s.Resource)), found); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return found
}

func TestKeysOfAnotherDatabaseAreNotAdopted(t *testing.T) {
	own := fixture.Minimal().Spec.Database.Identity(cluster.Settings{}, "openstack").String()
	for name, c := range map[string]struct {
		mark, by string
		want     bool
	}{
		"of an earlier version":       {want: true},
		"of this database":            {mark: own, by: "former", want: true},
		"of another database":         {mark: otherDatabase, by: "former"},
		"of another one, without UID": {mark: otherDatabase},
		"of the one it had before":    {mark: otherDatabase, by: "the-keystone", want: true},
	} {
		annotations := map[string]string{}
		if c.mark != "" {
			annotations[commonv1.AnnotationDatabase] = c.mark
		}
		if c.by != "" {
			annotations[service.AnnotationClaimedBy] = c.by
		}
		s := withSecret(t, func(s *pass.Scope) *corev1.Secret { return keySecret(t, s, annotations) })
		_, _, err := Fernet.ensure(t.Context(), s)
		refused := err != nil && reconcile.Failed("", err).Reason() == keystonev1alpha1.ReasonKeysMissing
		if refused == c.want || err != nil && !refused {
			t.Errorf("%s: got %v", name, err)
		}
		got, want := live(t, s).Annotations[commonv1.AnnotationDatabase], s.DatabaseIdentity().String()
		if !c.want {
			want = otherDatabase
			if !strings.Contains(err.Error(), otherDatabase) {
				t.Errorf("%s: the error does not name the database: %v", name, err)
			}
		}
		if got != want {
			t.Errorf("%s: they are marked as those of %q, want %q", name, got, want)
		}
	}
}

func TestTheDatabaseEntryOfARestoredCopyIsRemovedFromTheKeys(t *testing.T) {
	s := withSecret(t, func(s *pass.Scope) *corev1.Secret {
		secret := keySecret(t, s, nil)
		claimed := service.Irreplaceable(s.Pass, secret.Name)
		secret.Labels, secret.Annotations = claimed.Labels, claimed.Annotations
		secret.Data[databaseEntry] = []byte(s.DatabaseIdentity().String())
		return secret
	})
	if _, _, err := Fernet.ensure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if data := live(t, s).Data; len(data) != 3 || data[databaseEntry] != nil {
		t.Errorf("the Secret has %d entries, want the three keys alone", len(data))
	}
}

func TestOnlyKeysThatTheKeystoneHasClaimedAreRemovedWithIt(t *testing.T) {
	for by, removed := range map[string]bool{"the-keystone": true, "another": false, "": false} {
		s := withSecret(t, func(s *pass.Scope) *corev1.Secret {
			return keySecret(t, s, map[string]string{service.AnnotationClaimedBy: by, commonv1.AnnotationDatabase: otherDatabase})
		})
		if err := removeKeys(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if gone := live(t, s).Name == ""; gone != removed {
			t.Errorf("claimed by %q they are removed: %t", by, gone)
		}
	}
}

func TestACopyFromTheStoreSaysWhichDatabaseItBelongsTo(t *testing.T) {
	s := fixture.Scope(fixture.Minimal())
	secret := keySecret(t, s, map[string]string{commonv1.AnnotationDatabase: otherDatabase})
	secret.UID = types.UID("source")
	push := fernetBackup.push(cluster.Settings{}, s.Resource, secret)
	if push.Spec.Template == nil || push.Spec.Template.Data[databaseEntry] != otherDatabase ||
		push.Annotations[commonv1.AnnotationDatabase] != otherDatabase {
		t.Fatalf("the copy does not say it: %+v", push)
	}
	restored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret.Name}, Data: map[string][]byte{databaseEntry: []byte(otherDatabase)}}
	maps.Copy(restored.Data, secret.Data)
	got := unpacked(restored)
	if service.OtherDatabase(s.Pass, got) != otherDatabase || len(got.Data) != len(secret.Data) || fernet.ValidateInUse(got.Data) != nil {
		t.Errorf("what is restored from it has %d entries and the annotations %v", len(got.Data), got.Annotations)
	}
}
