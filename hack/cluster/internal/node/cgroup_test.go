package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	hybridMounts = `tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
`
	unifiedMounts = `proc /proc proc rw 0 0
cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0
`
)

func TestVersion1IsUsedWhereItHasTheControllers(t *testing.T) {
	all, err := parseHierarchies(strings.NewReader(hybridMounts))
	if err != nil {
		t.Fatal(err)
	}
	version1 := []string{"/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/pids"}
	if diff := cmp.Diff(append(slices.Clone(version1), "/sys/fs/cgroup/unified"), mountsOf(all)); diff != "" {
		t.Errorf("all hierarchies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(version1, mountsOf(inUse(all))); diff != "" {
		t.Errorf("hierarchies in use (-want +got):\n%s", diff)
	}
	var joined []string
	for _, h := range inUse(all) {
		if h.hasDaemons() {
			joined = append(joined, h.mount)
		}
	}
	if diff := cmp.Diff([]string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/pids"}, joined); diff != "" {
		t.Errorf("hierarchies with daemons (-want +got):\n%s", diff)
	}
}

func TestVersion2AloneIsUsedForDaemonsToo(t *testing.T) {
	all, err := parseHierarchies(strings.NewReader(unifiedMounts))
	if err != nil {
		t.Fatal(err)
	}
	used := inUse(all)
	if diff := cmp.Diff([]string{"/sys/fs/cgroup"}, mountsOf(used)); diff != "" {
		t.Fatalf("hierarchies in use (-want +got):\n%s", diff)
	}
	if !used[0].hasDaemons() {
		t.Error("daemons do not join the only hierarchy")
	}
}

func mountsOf(trees []hierarchy) []string {
	mounts := make([]string, 0, len(trees))
	for _, h := range trees {
		mounts = append(mounts, h.mount)
	}
	return mounts
}

func TestOnlyAvailableControllersThatAreNotYetOnAreEnabled(t *testing.T) {
	got := missingControllers("cpuset cpu io memory pids rdma misc", "cpu pids")
	if diff := cmp.Diff([]string{"cpuset", "io", "memory"}, got); diff != "" {
		t.Errorf("missing controllers (-want +got):\n%s", diff)
	}
}

func TestANewCpusetInheritsAtEveryLevel(t *testing.T) {
	root := t.TempDir()
	for name, value := range map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := hierarchy{mount: root, options: []string{"rw", "cpuset"}}
	for range 2 { // the second time everything is there
		if err := tree.ensure("/forge-cluster/node/pods"); err != nil {
			t.Fatal(err)
		}
	}
	for _, group := range []string{"forge-cluster", "forge-cluster/node", "forge-cluster/node/pods"} {
		cpus, err := os.ReadFile(filepath.Join(root, group, "cpuset.cpus"))
		if err != nil || string(cpus) != "0-1\n" {
			t.Errorf("%s has processors %q, %v", group, cpus, err)
		}
	}
}

func TestAVersion2GroupHandsItsControllersDown(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"", "forge-cluster"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"cgroup.controllers": "memory\n", "cgroup.subtree_control": "\n"} {
			if err := os.WriteFile(filepath.Join(root, dir, name), []byte(value), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := (hierarchy{mount: root, v2: true}).ensure("/forge-cluster/pods"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", "forge-cluster"} {
		control, err := os.ReadFile(filepath.Join(root, dir, "cgroup.subtree_control"))
		if err != nil || string(control) != "+memory" {
			t.Errorf("%q enables %q, %v, want +memory", dir, control, err)
		}
	}
}

func TestRemovingATreeTakesTheDeepestFirst(t *testing.T) {
	root := filepath.Join(t.TempDir(), "forge-cluster")
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing left
		if err := removeTree(root); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("the tree is still there: %v", err)
	}
}

func TestAClusterGetsMoreCPUTimeThanAProcessUnderContention(t *testing.T) {
	for _, tc := range []struct {
		file, want string
		v2         bool
	}{
		{file: "cpu.shares", want: "8192"},
		{file: "cpu.weight", want: "800", v2: true},
		{file: "pids.max"},
	} {
		mount := t.TempDir()
		path := filepath.Join(mount, "group", tc.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := (hierarchy{mount: mount, v2: tc.v2}).weigh("group"); err != nil {
			t.Errorf("%s: %v", tc.file, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc.want {
			t.Errorf("%s is %q (%v), want %q", tc.file, got, err, tc.want)
		}
	}
}
