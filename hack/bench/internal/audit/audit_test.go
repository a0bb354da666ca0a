package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const user = "keystone-operator"

// line is a line of an audit log.
func line(user, stage, verb, resource, subresource string, code int) string {
	return fmt.Sprintf(`{"stage":%q,"verb":%q,"requestURI":"/api/v1/x?labelSelector=a%%3Db&watch=true","user":{"username":%q},`+
		`"objectRef":{"resource":%q,"subresource":%q,"apiGroup":"batch"},"responseStatus":{"code":%d}}`+"\n",
		stage, verb, user, resource, subresource, code)
}

func followed(t *testing.T, content string) (log *Log, appendLine func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := Open(path, user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log, func(more string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(more); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, log *Log) {
	t.Helper()
	if err := log.Read(); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsOfTheUserAreCountedByClass(t *testing.T) {
	log, _ := followed(t, line(user, "ResponseComplete", "create", "jobs", "", 201)+
		line(user, "ResponseComplete", "patch", "deployments", "", 200)+
		line(user, "ResponseComplete", "update", "secrets", "", 200)+
		line(user, "ResponseComplete", "patch", "keystones", "status", 200)+
		line(user, "ResponseComplete", "get", "services", "", 404)+
		line(user, "ResponseComplete", "get", "secrets", "", 200)+
		line(user, "ResponseComplete", "list", "events", "", 200)+
		line(user, "ResponseComplete", "create", "events", "", 201)+
		line(user, "ResponseComplete", "delete", "jobs", "", 200)+
		line(user, "ResponseComplete", "update", "leases", "", 200)+
		line("somebody", "ResponseComplete", "create", "jobs", "", 201)+
		`{"stage":"ResponseComplete","verb":"get","requestURI":"/apis","user":{"username":"`+user+`"}}`+"\n")
	read(t, log)
	want := Counts{Creates: 1, Patches: 2, Status: 1, Misses: 1, Reads: 2, Events: 1, Deletes: 1}
	if diff := cmp.Diff(want, log.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if got := log.Counts().Sum(); got != 9 {
		t.Errorf("%d requests in all, want 9", got)
	}
}

func TestAPartialAuditLogLineIsReadOnceItIsComplete(t *testing.T) {
	whole := line(user, "ResponseComplete", "create", "jobs", "", 201)
	log, add := followed(t, whole+whole[:40])
	read(t, log)
	before := log.Counts()
	if before[Creates] != 1 {
		t.Errorf("%d creates in one line and a half, want 1", before[Creates])
	}
	add(whole[40:] + whole)
	read(t, log)
	if got := log.Counts().Since(before)[Creates]; got != 2 {
		t.Errorf("%d creates since then, want 2", got)
	}
}

func TestOpenWatchesAreKnownByResourceAndSelector(t *testing.T) {
	log, add := followed(t, line(user, "ResponseStarted", "watch", "jobs", "", 200)+
		line(user, "ResponseStarted", "watch", "pods", "", 200)+
		line(user, "ResponseStarted", "watch", "pods", "", 200))
	read(t, log)
	want := map[string]int{"jobs.batch with a=b": 1, "pods.batch with a=b": 2}
	if diff := cmp.Diff(want, log.Watches()); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
	add(line(user, "ResponseComplete", "watch", "jobs", "", 200))
	read(t, log)
	delete(want, "jobs.batch with a=b")
	if diff := cmp.Diff(want, log.Watches()); diff != "" {
		t.Errorf("watches after one has ended (-want +got):\n%s", diff)
	}
	if got := log.Counts().Sum(); got != 0 {
		t.Errorf("%d requests are counted, want no watch among them", got)
	}
}
