package keys

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestPushSecretsMatchTheirGoldenFiles(t *testing.T) {
	k := fixture.Minimal()
	keys := map[string]string{"0": "hunter2-zero", "1": "hunter2-one"}
	for _, backup := range keyBackups {
		push := backup.push(cluster.Settings{}, k, fixture.Source(backup.source(k), keys))
		golden.CompareYAML(t, "rotation/pushsecret-"+backup.entry+".yaml", push)
	}
}

func TestStorePathsArePrefixedWithTheClusterName(t *testing.T) {
	east, k, source := cluster.Settings{Name: "east"}, fixture.Minimal(), fixture.Source("source", nil)
	var got []string
	for _, backup := range keyBackups {
		push, request := backup.push(east, k, source), backup.request(east, k)
		got = append(got, push.Spec.Data[0].Match.RemoteRef.RemoteKey, request.Spec.DataFrom[0].Extract.Key)
	}
	want := []string{
		"east/openstack/keystone/openstack/keystone/fernet-keys", "east/openstack/keystone/openstack/keystone/fernet-keys",
		"east/openstack/keystone/openstack/keystone/credential-keys", "east/openstack/keystone/openstack/keystone/credential-keys",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths in the store (-want +got):\n%s", diff)
	}
	message := backupReport{}.outcome(keysPath(east, k)).Message()
	if !strings.Contains(message, " east/openstack/keystone/openstack/keystone in ") {
		t.Errorf("the condition says %q", message)
	}
}
