package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// defaultRow is a field that is filled in when the user leaves it out.
type defaultRow struct {
	path string
	want any
	// within is the optional field that has to be there, if it is not there
	// by default.
	within string
}

func defaultRows() []defaultRow {
	const tls, rotation, uwsgi = "spec.database.tls", "spec.bootstrap.passwordRotation", "spec.uwsgi"
	return []defaultRow{
		{"spec.replicas", int64(3), ""},
		{"spec.cache.backend", "dogpile.cache.pymemcache", ""},
		{"spec.cache.replicas", int64(3), ""},
		{"spec.database.tls.enabled", false, tls},
		{"spec.database.tls.mode", "require", tls},
		{"spec.fernet.rotationSchedule", "0 0 * * 0", ""},
		{"spec.fernet.maxActiveKeys", int64(3), ""},
		{"spec.fernet.suspend", false, ""},
		{"spec.credentialKeys.rotationSchedule", "0 0 * * 0", ""},
		{"spec.credentialKeys.maxActiveKeys", int64(3), ""},
		{"spec.credentialKeys.suspend", false, ""},
		{"spec.trustFlush.schedule", "0 * * * *", ""},
		{"spec.trustFlush.suspend", false, ""},
		{"spec.bootstrap.adminUser", "admin", ""},
		{"spec.bootstrap.region", "RegionOne", ""},
		{"spec.bootstrap.passwordRotation.enabled", false, rotation},
		{"spec.bootstrap.passwordRotation.schedule", "0 0 1 * *", rotation},
		{"spec.bootstrap.passwordRotation.suspend", false, rotation},
		{"spec.bootstrap.passwordRotation.passwordLength", int64(32), rotation},
		{"spec.uwsgi.processes", int64(2), uwsgi},
		{"spec.uwsgi.threads", int64(1), uwsgi},
		{"spec.uwsgi.httpKeepAlive", true, uwsgi},
		{"spec.logging.format", "text", ""},
		{"spec.logging.level", "INFO", ""},
		{"spec.logging.debug", false, ""},
	}
}

// written returns a minimal Keystone without the field, as a user writes it.
func (r defaultRow) written(t testing.TB) map[string]any {
	t.Helper()
	written := withoutEmpty(toMap(t, minimal()))
	if r.within != "" {
		if err := unstructured.SetNestedMap(written, map[string]any{}, strings.Split(r.within, ".")...); err != nil {
			t.Fatal(err)
		}
	}
	return written
}

// withoutEmpty leaves out the blocks that a Go client sends empty.
func withoutEmpty(object map[string]any) map[string]any {
	for name, value := range object {
		if fields, isMap := value.(map[string]any); isMap && len(withoutEmpty(fields)) == 0 {
			delete(object, name)
		}
	}
	return object
}

func TestEveryDefaultOfTheSchemaIsInTheTable(t *testing.T) {
	var inTable, inSchema []string
	for _, row := range defaultRows() {
		inTable = append(inTable, row.path)
	}
	for _, n := range specNodes(t) {
		// An empty block is filled in for the sake of what is in it, and the
		// empty name is that of Kubernetes' LocalObjectReference.
		if n.schema.Default != nil && string(n.schema.Default.Raw) != "{}" && string(n.schema.Default.Raw) != `""` {
			inSchema = append(inSchema, n.path)
		}
	}
	if diff := cmp.Diff(sorted(inSchema), sorted(inTable)); diff != "" {
		t.Errorf("defaults (-schema +table):\n%s", diff)
	}
}

func TestTheOperatorFillsInEveryDefaultOfTheTable(t *testing.T) {
	for _, row := range defaultRows() {
		k := &Keystone{}
		fromMap(t, row.written(t), k)
		got, found := valueAt(toMap(t, defaulted(k)), row.path)
		// What is false is left out of JSON.
		if !found && row.want == false {
			continue
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.path, diff)
		}
	}
}
