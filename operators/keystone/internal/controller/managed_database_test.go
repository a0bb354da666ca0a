package controller

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/database"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

// test_sitecustomize.py tests what the file does with it.
func TestConnectionsToAManagedDatabaseWaitForReplicatedWrites(t *testing.T) {
	for name, test := range map[string]struct {
		keystone *keystonev1alpha1.Keystone
		want     string
	}{"managed": {fixture.Managed(), "True"}, "brownfield": {fixture.Minimal(), "False"}} {
		files := filesOf(t, test.keystone)
		if want := "\nWAIT_FOR_WRITES = " + test.want + "\n"; strings.Count(files[database.StartFile], want) != 1 {
			t.Errorf("%s: %s does not say %s", name, database.StartFile, strings.TrimSpace(want))
		}
	}
}
