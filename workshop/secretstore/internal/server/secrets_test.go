package server_test

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	vault "github.com/hashicorp/vault/api"
)

func TestASecretIsReadAsItWasWritten(t *testing.T) {
	kv := start(t).client(t, rootToken).KVv2("kv-v2")
	want := map[string]any{"0": "a", "nested": map[string]any{"b": "c"}}
	if _, err := kv.Put(t.Context(), "a/b", want); err != nil {
		t.Fatal(err)
	}
	got, err := kv.Get(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.VersionMetadata.Version != 1 || got.VersionMetadata.CreatedTime.IsZero() {
		t.Errorf("metadata %+v", got.VersionMetadata)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	client := start(t).client(t, rootToken)
	if _, err := client.KVv2("kv-v2").Get(t.Context(), "a"); !errors.Is(err, vault.ErrSecretNotFound) {
		t.Errorf("get: %v", err)
	}
	// External Secrets uses this request, and interprets an empty answer as "does
	// not exist".
	if secret, err := client.Logical().ReadWithContext(t.Context(), "kv-v2/data/a"); secret != nil || err != nil {
		t.Errorf("read: %v, %v", secret, err)
	}
	if secret, err := client.Logical().ListWithContext(t.Context(), "kv-v2/metadata/a"); secret != nil || err != nil {
		t.Errorf("list: %v, %v", secret, err)
	}
}

func TestADeletedVersionShowsOnlyItsMetadata(t *testing.T) {
	client := start(t).client(t, rootToken)
	put(t, client, "a", map[string]any{"v": "x"})
	if err := client.KVv2("kv-v2").Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	secret, err := client.Logical().ReadWithContext(t.Context(), "kv-v2/data/a")
	if err != nil || secret == nil {
		t.Fatalf("got %v, %v", secret, err)
	}
	if secret.Data["data"] != nil || secret.Data["metadata"].(map[string]any)["deletion_time"] == "" {
		t.Errorf("got %v", secret.Data)
	}
	put(t, client, "a", map[string]any{"v": "y"})
	if again, err := client.KVv2("kv-v2").Get(t.Context(), "a"); err != nil || again.VersionMetadata.Version != 2 {
		t.Errorf("a new version: %v, %v", again, err)
	}
}

func TestAnOlderVersionStaysReadable(t *testing.T) {
	const maxKept = 10
	kv := start(t).client(t, rootToken).KVv2("kv-v2")
	for number := range maxKept + 2 {
		if _, err := kv.Put(t.Context(), "a", map[string]any{"v": strconv.Itoa(number + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	old, err := kv.GetVersion(t.Context(), "a", 3)
	if err != nil || old.Data["v"] != "3" || old.VersionMetadata.Version != 3 {
		t.Errorf("got %v, %v", old, err)
	}
	if gone, err := kv.GetVersion(t.Context(), "a", 2); !errors.Is(err, vault.ErrSecretNotFound) {
		t.Errorf("a version beyond the limit: %v, %v", gone, err)
	}
	versions, err := kv.GetVersionsAsList(t.Context(), "a")
	if err != nil || len(versions) != maxKept {
		t.Errorf("got %v, %v", versions, err)
	}
}

func TestCustomMetadataIsKeptBesideTheVersions(t *testing.T) {
	client := start(t).client(t, rootToken)
	kv := client.KVv2("kv-v2")
	input := vault.KVMetadataPutInput{CustomMetadata: map[string]any{"managed-by": "external-secrets"}}
	if err := kv.PutMetadata(t.Context(), "a", input); err != nil {
		t.Fatal(err)
	}
	put(t, client, "a", map[string]any{"v": "x"})
	metadata, err := kv.GetMetadata(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if metadata.CustomMetadata["managed-by"] != "external-secrets" || metadata.CurrentVersion != 1 {
		t.Errorf("got %+v", metadata)
	}
	secret, err := kv.Get(t.Context(), "a")
	if err != nil || secret.CustomMetadata["managed-by"] != "external-secrets" {
		t.Errorf("with the data: %+v, %v", secret, err)
	}
}

func TestDeletingMetadataRemovesThePath(t *testing.T) {
	client := start(t).client(t, rootToken)
	put(t, client, "a/b", map[string]any{"v": "x"})
	if err := client.KVv2("kv-v2").DeleteMetadata(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if list, err := client.Logical().ListWithContext(t.Context(), "kv-v2/metadata/"); list != nil || err != nil {
		t.Errorf("got %v, %v", list, err)
	}
}

func TestFoldersAreListedLevelByLevel(t *testing.T) {
	client := start(t).client(t, rootToken)
	put(t, client, "a/b/c", map[string]any{})
	put(t, client, "a/d", map[string]any{})
	list, err := client.Logical().ListWithContext(t.Context(), "kv-v2/metadata/a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"b/", "d"}, list.Data["keys"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFailedCheckAndSetIsABadRequest(t *testing.T) {
	client := start(t).client(t, rootToken)
	put(t, client, "a", map[string]any{"v": "x"})
	_, err := client.KVv2("kv-v2").Put(t.Context(), "a", map[string]any{"v": "y"}, vault.WithCheckAndSet(0))
	if status(err) != http.StatusBadRequest {
		t.Errorf("got %v", err)
	}
}

func TestARequestThatIsNoJSONIsRefusedWithoutRepeatingIt(t *testing.T) {
	s := start(t)
	request := s.client(t, rootToken).NewRequest(http.MethodPost, "/v1/kv-v2/data/a")
	request.BodyBytes = []byte(`{"data": "the-secret"`)
	//nolint:staticcheck // the client's other requests are always well formed
	_, err := s.client(t, rootToken).RawRequestWithContext(t.Context(), request)
	if status(err) != http.StatusBadRequest {
		t.Fatalf("got %v", err)
	}
	if text := err.Error() + s.log.String(); containsSecret(text) {
		t.Errorf("it is repeated: %s", text)
	}
}

func TestDeletingWhatIsNotThereIsNoError(t *testing.T) {
	kv := start(t).client(t, rootToken).KVv2("kv-v2")
	if err := errors.Join(kv.Delete(t.Context(), "a"), kv.DeleteMetadata(t.Context(), "a")); err != nil {
		t.Error(err)
	}
	if _, err := kv.GetMetadata(t.Context(), "a"); !errors.Is(err, vault.ErrSecretNotFound) {
		t.Errorf("it is there now: %v", err)
	}
}

func TestAWriteThatCannotBePersistedIsNotApplied(t *testing.T) {
	s := start(t)
	client := s.client(t, rootToken)
	put(t, client, "a", map[string]any{"v": "first"})
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	kv := client.KVv2("kv-v2")
	if _, err := kv.Put(t.Context(), "a", map[string]any{"v": "second"}); status(err) != http.StatusInternalServerError {
		t.Errorf("got %v", err)
	}
	if got, err := kv.Get(t.Context(), "a"); err != nil || got.Data["v"] != "first" {
		t.Errorf("the secret is %v, %v", got, err)
	}
}
