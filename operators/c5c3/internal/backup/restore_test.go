package backup

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

func TestObjectsOfARestoreMatchTheirGoldenFiles(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC))
	bucket, volume := withBackup(inBucket()), withBackup(inVolume())
	golden.CompareYAML(t, "s3/restore.yaml", load(cluster.Settings{}, bucket, loadName(bucket), "openstack-db", at))
	golden.CompareYAML(t, "claim/restore.yaml", load(cluster.Settings{}, volume, CheckServer(volume), CheckServer(volume), at))
	golden.CompareYAML(t, "check-server.yaml", checkServer(bucket, maria()))
	access, _ := serverOf(maria())
	golden.CompareYAML(t, "read.yaml", readBundleJob(bucket, access, "request"))
	golden.CompareYAML(t, "drop.yaml", runText(bucket, access, dropName(bucket), dropping([]string{"keystone"}), "request"))
}

func TestALongBundleIsReadInParts(t *testing.T) {
	text := strings.Repeat("a", chunkSize) + strings.Repeat("b", chunkSize) + "c"
	pod := &corev1.Pod{}
	for i := range chunks {
		part := text[i*chunkSize : min((i+1)*chunkSize, len(text))]
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: chunkName(i), State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: part + "\n"}},
		})
	}
	if messages(pod) != text {
		t.Error("the parts are not in order")
	}
	if size := chunkSize + len("\n"); size > 4096 || chunks*size > 12<<10 {
		t.Errorf("the kubelet cuts off messages of %d bytes in %d containers", size, chunks)
	}
}

func TestTheBackupOfAnotherControlPlaneOrALaterReleaseIsRefused(t *testing.T) {
	r := &restore{Pass: &pass.Pass{Tools: &pass.Tools{}, CP: withBackup(inBucket())}}
	for name, c := range map[string]struct {
		change func(*bundle)
		says   string
	}{
		"its own":                 {func(*bundle) {}, ""},
		"another build":           {func(b *bundle) { b.Release = "2025.2-1" }, ""},
		"an earlier release":      {func(b *bundle) { b.Release = "2025.1" }, ""},
		"a later release":         {func(b *bundle) { b.Release = "2026.1" }, "of release 2026.1"},
		"another cluster":         {func(b *bundle) { b.Cluster = "east" }, "east/openstack/controlplane"},
		"another namespace":       {func(b *bundle) { b.Namespace = "tenant" }, "tenant/controlplane"},
		"another name":            {func(b *bundle) { b.Name = "other" }, "openstack/other"},
		"a bundle without a key":  {func(b *bundle) { b.TokenKeys = nil }, "cannot be used"},
		"a bundle with other key": {func(b *bundle) { b.CredentialKeys = keySet{"0": "x"} }, "cannot be used"},
	} {
		b := filled(t, 3)
		c.change(&b)
		err := r.fits(b)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOnlyACompletedJobHasLoadedTheDump(t *testing.T) {
	for reason, want := range map[string]bool{"JobComplete": true, "JobFailed": false} {
		restore := &infraapi.Restore{}
		restore.Status.Conditions = []metav1.Condition{{Type: "Complete", Status: metav1.ConditionTrue, Reason: reason}}
		if ended, succeeded := loaded(restore); !ended || succeeded != want {
			t.Errorf("%s: ended %t, succeeded %t", reason, ended, succeeded)
		}
	}
	if ended, _ := loaded(&infraapi.Restore{}); ended {
		t.Error("a new one has ended")
	}
}
