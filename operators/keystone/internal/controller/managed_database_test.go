package controller

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// What the file does then is tested where it is, by test_sitecustomize.py.
func TestConnectionsToAManagedDatabaseWaitForWhatWasWrittenThroughAnotherServer(t *testing.T) {
	for name, test := range map[string]struct {
		keystone *keystonev1alpha1.Keystone
		want     string
	}{"managed": {managed(), "True"}, "brownfield": {minimal(), "False"}} {
		files, err := configFiles(cluster.Settings{}, test.keystone, keystoneOptions(cluster.Settings{}, test.keystone, false), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := "\nWAIT_FOR_WRITES = " + test.want + "\n"; strings.Count(files[startFile], want) != 1 {
			t.Errorf("%s: %s does not say %s", name, startFile, strings.TrimSpace(want))
		}
	}
}
