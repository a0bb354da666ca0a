package kv_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/workshop/secretstore/internal/kv"
)

// disk holds the last saved state of a store.
type disk struct {
	content []byte
	err     error
}

func (d *disk) save(content []byte) error {
	if d.err != nil {
		return d.err
	}
	d.content = content
	return nil
}

func newStore(t *testing.T, d *disk) *kv.Store {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	store, err := kv.New(d.content, now, d.save)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func write(t *testing.T, store *kv.Store, path, value string) {
	t.Helper()
	if _, err := store.Write(path, map[string]any{"v": value}, nil); err != nil {
		t.Fatal(err)
	}
}

// value returns the value in a version of secret "a", or "".
func value(t *testing.T, store *kv.Store, number int) string {
	t.Helper()
	secret, err := store.Get("a")
	if errors.Is(err, kv.ErrNotFound) {
		return ""
	}
	version, _ := secret.Version(number)
	if !version.Readable() {
		return ""
	}
	return version.Data["v"].(string)
}

func TestEveryWriteAddsAVersion(t *testing.T) {
	store := newStore(t, &disk{})
	write(t, store, "a", "first")
	write(t, store, "a", "second")
	if got := value(t, store, 0); got != "second" {
		t.Errorf("the current version shows %q", got)
	}
	if got := value(t, store, 1); got != "first" {
		t.Errorf("version 1 shows %q", got)
	}
}

func TestVersionsBeyondTheLimitAreDropped(t *testing.T) {
	store := newStore(t, &disk{})
	limit := 2
	if err := store.WriteMetadata("a", kv.Metadata{MaxVersions: &limit}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"1", "2", "3", "4"} {
		write(t, store, "a", v)
	}
	secret, err := store.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	if len(secret.Versions) != 2 || secret.OldestVersion != 3 || value(t, store, 3) != "3" {
		t.Errorf("kept %d versions from %d on", len(secret.Versions), secret.OldestVersion)
	}
}

func TestAWriteBasedOnAnotherVersionIsRefused(t *testing.T) {
	store := newStore(t, &disk{})
	none, two := 0, 2
	if _, err := store.Write("a", map[string]any{"v": "first"}, &none); err != nil {
		t.Fatal(err)
	}
	for _, cas := range []*int{&none, &two} {
		if _, err := store.Write("a", map[string]any{"v": "other"}, cas); !errors.Is(err, kv.ErrCheckAndSet) {
			t.Errorf("cas=%d: %v", *cas, err)
		}
	}
	if got := value(t, store, 0); got != "first" {
		t.Errorf("the secret is %q", got)
	}
}

func TestAWriteMustNameAVersionWhereThatIsRequired(t *testing.T) {
	store := newStore(t, &disk{})
	required := true
	if err := store.WriteMetadata("a", kv.Metadata{CASRequired: &required}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Write("a", map[string]any{}, nil); !errors.Is(err, kv.ErrCheckAndSetRequired) {
		t.Errorf("got %v", err)
	}
}

func TestADeletedVersionComesBackAndADestroyedOneDoesNot(t *testing.T) {
	store := newStore(t, &disk{})
	write(t, store, "a", "first")
	for _, step := range []struct {
		change func(string, []int) error
		want   string
	}{
		{store.Delete, ""},
		{store.Undelete, "first"},
		{store.Destroy, ""},
		{store.Undelete, ""},
	} {
		if err := step.change("a", []int{1}); err != nil {
			t.Fatal(err)
		}
		if got := value(t, store, 1); got != step.want {
			t.Fatalf("got %q, want %q", got, step.want)
		}
	}
}

func TestDeletingMetadataRemovesTheSecretAndItsPath(t *testing.T) {
	store := newStore(t, &disk{})
	write(t, store, "a/b", "x")
	if err := store.DeleteAll("a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get("a/b"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if names := store.List("a"); len(names) != 0 {
		t.Errorf("the folder still lists %v", names)
	}
}

func TestDeletingWhatIsNotThereIsNoError(t *testing.T) {
	store := newStore(t, &disk{})
	if err := errors.Join(store.Delete("a", nil), store.DeleteAll("a")); err != nil {
		t.Error(err)
	}
}

func TestAListShowsOneLevel(t *testing.T) {
	store := newStore(t, &disk{})
	for _, path := range []string{"a/b/c", "a/b/d", "a/e", "f"} {
		write(t, store, path, "x")
	}
	for path, want := range map[string][]string{"": {"a/", "f"}, "a": {"b/", "e"}, "a/b/": {"c", "d"}} {
		if diff := cmp.Diff(want, store.List(path)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
}

func TestEmptyingSparesOtherPrefixes(t *testing.T) {
	store := newStore(t, &disk{})
	write(t, store, "a/b", "x")
	write(t, store, "c", "x")
	if err := store.Empty("a/"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c"}, store.List("")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSecretsSurviveARestart(t *testing.T) {
	d := &disk{}
	store := newStore(t, d)
	write(t, store, "a", "first")
	if err := store.WriteMetadata("a", kv.Metadata{CustomMetadata: map[string]string{"managed-by": "me"}}); err != nil {
		t.Fatal(err)
	}
	again := newStore(t, d)
	before, _ := store.Get("a")
	after, err := again.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestAChangeThatCannotBeSavedDoesNotHappen(t *testing.T) {
	d := &disk{}
	store := newStore(t, d)
	write(t, store, "a", "first")
	d.err = errors.New("the disk is full")
	if _, err := store.Write("a", map[string]any{"v": "second"}, nil); !errors.Is(err, d.err) {
		t.Fatalf("got %v", err)
	}
	if got := value(t, store, 0); got != "first" {
		t.Errorf("the secret is %q", got)
	}
}
