//go:build integration

package apply_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// secret creates the Secret "password" and returns it as it was read.
func (b *bench) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "password"}}
	b.must(t, apply.Create(t.Context(), b.Client, secret))
	return secret
}

// outdate changes the Secret behind the back of those who have read it.
func (b *bench) outdate(t *testing.T, read *corev1.Secret) {
	t.Helper()
	changed := read.DeepCopy()
	changed.Data = map[string][]byte{"theirs": []byte("value")}
	b.must(t, apply.Update(t.Context(), b.Client, changed, apply.Updating))
}

// find returns the Secret, nil if there is none.
func (b *bench) find(t *testing.T) *corev1.Secret {
	t.Helper()
	live, err := apply.Find(t.Context(), b.Client, client.ObjectKey{Namespace: b.namespace, Name: "password"}, &corev1.Secret{})
	b.must(t, err)
	return live
}

func TestAStaleUpdateIsAConflictThatNamesTheOperation(t *testing.T) {
	b := newBench(t)
	read := b.secret(t)
	b.outdate(t, read)
	changed := read.DeepCopy()
	changed.Annotations = map[string]string{"example.com/ours": "value"}
	for what, write := range map[string]func() error{
		"update": func() error { return apply.Update(t.Context(), b.Client, changed.DeepCopy(), "storing a new value in") },
		"merge": func() error {
			return apply.Merge(t.Context(), b.Client, read, changed.DeepCopy(), "storing a new value in")
		},
	} {
		want := "storing a new value in Secret password: "
		if err := write(); !apierrors.IsConflict(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want a conflict that begins with %q", what, err, want)
		}
	}
	if live := b.find(t); len(live.Annotations) != 0 {
		t.Errorf("annotations %v, want none", live.Annotations)
	}
	b.must(t, apply.MergeUnlocked(t.Context(), b.Client, read, changed, "marking"))
	if live := b.find(t); live.Annotations["example.com/ours"] == "" || live.Data["theirs"] == nil {
		t.Errorf("annotations %v, data %v, want what was merged next to what others wrote", live.Annotations, live.Data)
	}
}

func TestAnObjectThatExistsIsNotCreatedAgain(t *testing.T) {
	b := newBench(t)
	read := b.secret(t)
	again := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: read.Namespace, Name: read.Name}}
	want := "creating Secret password: "
	if err := apply.Create(t.Context(), b.Client, again); !apierrors.IsAlreadyExists(err) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want an error that begins with %q", err, want)
	}
}

func TestADeletionHitsOnlyTheObjectThatWasRead(t *testing.T) {
	b := newBench(t)
	former := b.secret(t)
	b.must(t, apply.Delete(t.Context(), b.Client, former))
	if live := b.find(t); live != nil {
		t.Fatalf("Secret %s is still there", live.Name)
	}
	b.must(t, apply.Delete(t.Context(), b.Client, former))

	read := b.secret(t)
	if err := apply.Delete(t.Context(), b.Client, former); !apierrors.IsConflict(err) {
		t.Errorf("deleting a former object of the name: %v, want a conflict", err)
	}
	b.must(t, apply.DeleteUnchanged(t.Context(), b.Client, former))
	b.outdate(t, read)
	b.must(t, apply.DeleteUnchanged(t.Context(), b.Client, read))
	live := b.find(t)
	if live == nil || live.UID != read.UID {
		t.Fatalf("got %v, want the object that has changed to stay", live)
	}
	b.must(t, apply.DeleteUnchanged(t.Context(), b.Client, live))
	b.must(t, apply.DeleteUnchanged(t.Context(), b.Client, live))
	if live := b.find(t); live != nil {
		t.Errorf("Secret %s is still there", live.Name)
	}
}

func TestFindUncachedFindsAnObjectMissingFromTheCache(t *testing.T) {
	b := newBench(t)
	read := b.secret(t)
	key := client.ObjectKeyFromObject(read)
	if cached, err := apply.Find(t.Context(), blind{b.Client}, key, &corev1.Secret{}); cached != nil || err != nil {
		t.Fatalf("got %v, %v, want a cache without the object", cached, err)
	}
	live, err := apply.FindUncached(t.Context(), blind{b.Client}, key, &corev1.Secret{})
	if err != nil || live == nil || live.UID != read.UID {
		t.Errorf("got %v, %v, want the object", live, err)
	}
	key.Name = "other"
	if live, err := apply.FindUncached(t.Context(), blind{b.Client}, key, &corev1.Secret{}); live != nil || err != nil {
		t.Errorf("got %v, %v, want neither an object nor an error", live, err)
	}
}
