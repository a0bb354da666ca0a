package keysecret

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

const otherDatabase = "elsewhere.openstack/harbour"

// installed is a pass over a Harbour that is installed, in a cluster with the Secret.
func installed(t *testing.T, secret func(*service.Pass) *corev1.Secret) *service.Pass {
	t.Helper()
	p := pass(t)
	p.Status.InstalledRelease = "2025.2"
	DatabaseContent.Put(p.Slots, Content{Known: true})
	created := secret(p)
	if err := p.Client.Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	return p
}

// none builds no Secret: there is one already.
func none(map[string][]byte) (*corev1.Secret, error) { panic("keys are made although there are some") }

func live(t *testing.T, p *service.Pass) *corev1.Secret {
	t.Helper()
	found := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), p.Key(locks.Of(p)), found); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return found
}

func TestKeysOfAnotherDatabaseAreNotAdopted(t *testing.T) {
	own := service.NewPass(&service.Tools{}, &instance.Definition, instance.Brownfield()).DatabaseIdentity().String()
	for name, c := range map[string]struct {
		mark, by string
		want     bool
	}{
		"of an earlier version":       {want: true},
		"of this database":            {mark: own, by: "former", want: true},
		"of another database":         {mark: otherDatabase, by: "former"},
		"of another one, without UID": {mark: otherDatabase},
		"of the one it had before":    {mark: otherDatabase, by: "the-harbour", want: true},
	} {
		annotations := map[string]string{}
		if c.mark != "" {
			annotations[commonv1.AnnotationDatabase] = c.mark
		}
		if c.by != "" {
			annotations[service.AnnotationClaimedBy] = c.by
		}
		p := installed(t, func(p *service.Pass) *corev1.Secret { return lockSecret(p, annotations) })
		_, _, err := locks.Ensure(t.Context(), p, none)
		refused := err != nil && reconcile.Failed("", err).Reason() == vocabulary.ReasonKeysMissing
		if refused == c.want || err != nil && !refused {
			t.Errorf("%s: got %v", name, err)
		}
		got, want := live(t, p).Annotations[commonv1.AnnotationDatabase], p.DatabaseIdentity().String()
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
	p := installed(t, func(p *service.Pass) *corev1.Secret {
		secret := lockSecret(p, service.Irreplaceable(p, "").Annotations)
		secret.Data[databaseEntry] = []byte(p.DatabaseIdentity().String())
		return secret
	})
	if _, _, err := locks.Ensure(t.Context(), p, none); err != nil {
		t.Fatal(err)
	}
	if data := live(t, p).Data; len(data) != 1 || data[databaseEntry] != nil {
		t.Errorf("the Secret has %d entries, want the key alone", len(data))
	}
}

func TestOnlyKeysThatTheResourceHasClaimedAreRemovedWithIt(t *testing.T) {
	for by, removed := range map[string]bool{"the-harbour": true, "another": false, "": false} {
		p := installed(t, func(p *service.Pass) *corev1.Secret {
			return lockSecret(p, map[string]string{service.AnnotationClaimedBy: by, commonv1.AnnotationDatabase: otherDatabase})
		})
		if err := removeKeys(t.Context(), p, []Keys{locks}); err != nil {
			t.Fatal(err)
		}
		if gone := live(t, p).Name == ""; gone != removed {
			t.Errorf("claimed by %q they are removed: %t", by, gone)
		}
	}
}

func TestUnusableKeysAreReportedAndNotReplaced(t *testing.T) {
	p := installed(t, func(p *service.Pass) *corev1.Secret {
		secret := lockSecret(p, service.Irreplaceable(p, "").Annotations)
		secret.Data["lock"] = []byte("rust")
		return secret
	})
	_, _, err := locks.Ensure(t.Context(), p, none)
	if err == nil || !strings.Contains(err.Error(), "it has no lock") ||
		!strings.Contains(err.Error(), "openstack/harbour/openstack/harbour/locks") {
		t.Errorf("got %v", err)
	}
}
