package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMemoryUsageOfTheCurrentProcessIsRead(t *testing.T) {
	usage, err := UsageOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if usage.RSS < 1<<20 || usage.Peak < usage.RSS || usage.CPU > time.Minute {
		t.Errorf("got %+v, want some memory in bytes, a peak of at least that, and less than a minute", usage)
	}
}

func TestAProcessThatWasNotStartedIsNoChild(t *testing.T) {
	if _, err := Child("nonesuch"); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("got %v, want an error that names it", err)
	}
}

func TestTheControlGroupsThatAccountForMemoryAreFound(t *testing.T) {
	const v1 = "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
	const v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
	for name, test := range map[string]struct {
		mounts, mount string
		names         files
	}{
		"version 1":                {v1, "/sys/fs/cgroup/memory", version1},
		"version 2":                {v2, "/sys/fs/cgroup", version2},
		"version 1 beside 2":       {v2 + v1, "/sys/fs/cgroup/memory", version1},
		"version 2 beside another": {"cgroup /c cgroup rw,cpu 0 0\n" + v2, "/sys/fs/cgroup", version2},
	} {
		mount, names, err := memoryTree(strings.NewReader(test.mounts))
		if err != nil || mount != test.mount || names != test.names {
			t.Errorf("%s: got %s with %+v and error %v", name, mount, names, err)
		}
	}
	if _, _, err := memoryTree(strings.NewReader("proc /proc proc rw 0 0\n")); err == nil {
		t.Error("no error without control groups")
	}
}

func TestACgroupReportsPeakMemoryAndOOMKills(t *testing.T) {
	for name, g := range map[string]*Group{"version 1": {files: version1}, "version 2": {files: version2}} {
		g.dir = t.TempDir()
		for file, content := range map[string]string{
			g.files.peak: "134217728\n", g.files.kills: "low 0\noom_kill_disable 0\noom_kill 2\n", g.files.limit: "",
		} {
			if err := os.WriteFile(filepath.Join(g.dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		peak, errPeak := g.Peak()
		kills, errKills := g.Kills()
		if peak != 128<<20 || kills != 2 || errPeak != nil || errKills != nil {
			t.Errorf("%s: got a peak of %d and %d kills (%v, %v)", name, peak, kills, errPeak, errKills)
		}
		if err := g.write(g.files.limit, 1<<20); err != nil {
			t.Fatal(err)
		}
		if limit, err := os.ReadFile(filepath.Join(g.dir, g.files.limit)); err != nil || string(limit) != "1048576" {
			t.Errorf("%s: the limit is %q (%v)", name, limit, err)
		}
	}
}
