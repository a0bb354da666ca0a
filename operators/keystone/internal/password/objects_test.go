package password

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestPushSecretsMatchTheirGoldenFiles(t *testing.T) {
	k := fixture.Rotating()
	push := newPush(fixture.Scope(k), fixture.Source(NextName(k), map[string]string{"password": "hunter2-next"}))
	golden.CompareYAML(t, "rotation/pushsecret-admin-password.yaml", push)
	cronJob := Rotator(k).CronJob(k, "keystone-admin-password-rotate-script-01234567")
	golden.CompareYAML(t, "rotation/cronjob-admin-password.yaml", cronJob)
}

func TestStorePathsArePrefixedWithTheClusterName(t *testing.T) {
	s := fixture.Scope(fixture.Rotating())
	s.Cluster = cluster.Settings{Name: "east"}
	push := newPush(s, fixture.Source("source", nil))
	if got := push.Spec.Data[0].Match.RemoteRef.RemoteKey; got != "east/bootstrap/openstack/keystone/admin" {
		t.Errorf("the path in the store is %q", got)
	}
}
