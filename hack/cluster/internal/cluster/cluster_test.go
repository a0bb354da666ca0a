package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/hack/cluster/internal/images"
	"github.com/c5c3/forge/hack/cluster/internal/manifests"
	"github.com/c5c3/forge/hack/cluster/internal/node"
	"github.com/c5c3/forge/hack/cluster/internal/progress"
)

const here, there = "/src/here", "/src/there"

func TestTheMachinesClusterIsRecognised(t *testing.T) {
	since := time.Date(2026, 3, 1, 9, 30, 0, 0, time.Local)
	const thereSince = there + ", since 2026-03-01 09:30:00"
	record := func(checkout string) *owner { return &owner{Checkout: checkout, Since: since} }
	seen := func(checkout string) []node.Node { return []node.Node{{Checkout: checkout}} }
	cases := map[string]struct {
		recorded *owner
		alive    bool
		running  []node.Node
		want     verdict
		whose    string
	}{
		"a clean machine is vacant":                         {want: vacant},
		"our living cluster is ours":                        {recorded: record(here), alive: true, running: seen(here), want: ours},
		"our dead cluster leaves remains":                   {recorded: record(here), want: remains},
		"another's dead cluster leaves remains":             {recorded: record(there), want: remains},
		"our node without a record is remains":              {running: seen(here), want: remains},
		"our node beside another's dead record is remains":  {recorded: record(there), running: seen(here), want: remains},
		"another's living cluster is named with its time":   {recorded: record(there), alive: true, want: foreign, whose: thereSince},
		"another's node without a record is named":          {running: seen(there), want: foreign, whose: there},
		"another's node beside our dead record is not ours": {recorded: record(here), running: seen(there), want: foreign, whose: there},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, whose := judge(tc.recorded, tc.alive, tc.running, here)
			if got != tc.want || whose != tc.whose {
				t.Errorf("judge() = %d, %q, want %d, %q", got, whose, tc.want, tc.whose)
			}
		})
	}
}

func TestAnOwnerWithoutARunningProcessIsDead(t *testing.T) {
	self, err := node.ProcessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	gone := self
	gone.Start++
	if !(owner{Members: []member{{Init: gone}, {Init: self}}}).alive() {
		t.Error("an owner with a running process is not alive")
	}
	if (owner{Members: []member{{Init: gone}}}).alive() || (owner{}).alive() {
		t.Error("an owner without a running process is alive")
	}
}

// serving returns a ready node and ready system pods that started at the time.
func serving(started time.Time) []object {
	ready := func(kind, namespace, name string) object {
		o := object{Kind: kind}
		o.Metadata.Namespace, o.Metadata.Name = namespace, name
		o.Status.Conditions = []condition{{Type: "Ready", Status: "True"}}
		return o
	}
	objects := append(make([]object, 0, 1+len(systemPods)), ready("Node", "", "n"))
	for _, prefix := range systemPods {
		namespace, name, _ := strings.Cut(prefix, "/")
		pod := ready("Pod", namespace, name+"x")
		pod.Status.Phase = "Running"
		pod.Status.ContainerStatuses = make([]container, 1)
		pod.Status.ContainerStatuses[0].State.Running = &running{StartedAt: started}
		objects = append(objects, pod)
	}
	return objects
}

func TestAClusterIsHealthyOnlyWithEveryPartOfIt(t *testing.T) {
	since := time.Date(2026, 3, 1, 9, 30, 0, 5e8, time.UTC)
	deleted := since
	const noEtcd = "no pod kube-system/etcd-* is ready"
	cases := map[string]struct {
		objects int // how many of the objects there are, from the first on; 0 for all
		change  func(node, etcd *object)
		want    string
	}{
		"everything ready": {},
		"no node":          {change: func(n, _ *object) { n.Metadata.Name = "other" }, want: "node n has not registered"},
		"node not ready":   {change: func(n, _ *object) { n.Status.Conditions[0].Status = "False" }, want: "node n is not ready: "},
		"node without conditions": {
			change: func(n, _ *object) { n.Status.Conditions = nil },
			want:   "node n is not ready: its kubelet has not reported yet",
		},
		"a full disk": {
			change: func(n, _ *object) {
				n.Status.Conditions = append(n.Status.Conditions, condition{Type: "MemoryPressure", Status: "False"},
					condition{Type: "DiskPressure", Status: "True", Message: "kubelet has disk pressure"})
			},
			want: "node n evicts pods and removes images: kubelet has disk pressure: free some disk space first",
		},
		"memory that is used up": {
			change: func(n, _ *object) {
				n.Status.Conditions = append(n.Status.Conditions,
					condition{Type: "MemoryPressure", Status: "True", Message: "kubelet has insufficient memory available"})
			},
			want: "node n evicts pods: kubelet has insufficient memory available: free some memory first",
		},
		"a pod is missing":         {objects: len(systemPods), want: "no pod local-path-storage/local-path-provisioner-* is ready"},
		"a pod is being deleted":   {change: func(_, p *object) { p.Metadata.DeletionTimestamp = &deleted }, want: noEtcd},
		"a pod has no containers":  {change: func(_, p *object) { p.Status.ContainerStatuses = nil }, want: noEtcd},
		"a container does not run": {change: func(_, p *object) { p.Status.ContainerStatuses[0].State.Running = nil }, want: noEtcd},
		"a pod has ended":          {change: func(_, p *object) { p.Status.Phase = "Failed" }, want: noEtcd},
		"a pod ran before the node was started again": {
			change: func(_, p *object) {
				p.Status.ContainerStatuses[0].State.Running.StartedAt = since.Add(-time.Minute)
			},
			want: noEtcd,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := serving(since.Truncate(time.Second))
			if tc.objects > 0 {
				objects = objects[:tc.objects]
			}
			if tc.change != nil {
				tc.change(&objects[0], &objects[1])
			}
			err := nodeHealthy(objects, "n")
			if err == nil {
				err = podsServe(objects, systemPods, since)
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheFingerprintChangesWithVersionsAndOnlyThen(t *testing.T) {
	fingerprint := func(tag string) string {
		n, set := node.New(0, controlPlane, "/cache/cluster", "/cache/bin", here), images.NewFixedSet(tag)
		files, err := manifests.NodeFiles(n, set, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := plan{node: n, set: set, files: files}.fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	first, again := fingerprint("v1.0.0"), fingerprint("v1.0.0")
	if first != again {
		t.Error("equal inputs have different fingerprints")
	}
	if first == fingerprint("v1.0.1") {
		t.Error("different versions have the same fingerprint")
	}
}

func newTestCluster(t *testing.T) *Cluster {
	t.Helper()
	c, err := New(t.TempDir(), progress.NewReporter(&strings.Builder{}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnlyItsOwnKubeconfigIsRemoved(t *testing.T) {
	for content, stays := range map[string]bool{
		"server: https://198.18.64.2:6443\n":  false,
		"server: https://198.18.64.20:6443\n": true,
		"server: https://127.0.0.1:6443\n":    true,
	} {
		c := newTestCluster(t)
		if err := os.WriteFile(c.kubeconfig(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.removeKubeconfig(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.kubeconfig()); (err == nil) != stays {
			t.Errorf("%q: stat = %v, want it to stay: %v", content, err, stays)
		}
	}
	if err := newTestCluster(t).removeKubeconfig(); err != nil {
		t.Errorf("without a kubeconfig: %v", err)
	}
}

// withCredentials returns a cluster whose credentials kubeadm has created, and the
// address of its API server.
func withCredentials(t *testing.T) (c *Cluster, server string) {
	t.Helper()
	c = newTestCluster(t)
	server = "server: https://" + c.firstNode().Address().String() + ":6443\n"
	made := filepath.Join(c.firstNode().Root(), "etc", "kubernetes", "admin.conf")
	for _, err := range []error{os.MkdirAll(filepath.Dir(made), 0o755), os.WriteFile(made, []byte(server+"new\n"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return c, server
}

func TestAnOldKubeconfigOfThisClusterIsReplaced(t *testing.T) {
	c, server := withCredentials(t)
	// World-readable, as a user may have left it.
	if err := os.WriteFile(c.kubeconfig(), []byte(server+"old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.writeKubeconfig(c.firstNode()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(c.kubeconfig())
		if err != nil || string(data) != server+"new\n" {
			t.Errorf("the kubeconfig is %q, %v", data, err)
		}
		if info, err := os.Stat(c.kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the kubeconfig has the mode %v, %v, want 600", info.Mode(), err)
		}
		if err := os.Remove(c.kubeconfig()); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(c.checkout, ".kubeconfig-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestAKubeconfigOfAnotherClusterIsNotOverwritten(t *testing.T) {
	c, _ := withCredentials(t)
	const another = "server: https://127.0.0.1:6443\n"
	if err := os.WriteFile(c.kubeconfig(), []byte(another), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.writeKubeconfig(c.firstNode()); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("got %v, want it to be refused", err)
	}
	if data, err := os.ReadFile(c.kubeconfig()); err != nil || string(data) != another {
		t.Errorf("the kubeconfig is %q, %v", data, err)
	}
}

func TestAHalfWrittenStateMeansStartingAgain(t *testing.T) {
	c := newTestCluster(t)
	want := state{Initialised: true, Fingerprint: "abc"}
	if err := writeJSON(c.stateFile(), want); err != nil {
		t.Fatal(err)
	}
	got, err := c.readState()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(c.stateFile(), []byte(`{"initialised": tr`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := c.readState(); err != nil || got != (state{}) {
		t.Errorf("readState() = %v, %v, want an empty state", got, err)
	}
}

func TestACheckoutReachedThroughALinkIsTheSame(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	direct, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	linked, err := New(link, nil)
	if err != nil {
		t.Fatal(err)
	}
	if direct.checkout != linked.checkout {
		t.Errorf("checkouts %s and %s differ", direct.checkout, linked.checkout)
	}
}

func TestWaitingEndsWithTheLastComplaint(t *testing.T) {
	calls := 0
	err := waitFor(t.Context(), time.Minute, func(context.Context) error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("waitFor() = %v after %d calls, want success after 3", err, calls)
	}
	complaint := errors.New("never")
	err = waitFor(t.Context(), time.Millisecond, func(context.Context) error { return complaint })
	if !errors.Is(err, complaint) {
		t.Errorf("waitFor() = %v, want %v", err, complaint)
	}
}
