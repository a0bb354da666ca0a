package operator

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestGOGCIsLoweredUnlessTheUserSetsIt(t *testing.T) {
	const untouched = 77
	before := debug.SetGCPercent(untouched)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for said, want := range map[string]int{"": garbagePercent, "200": untouched} {
		t.Setenv(garbageVariable, said)
		t.Setenv(memoryVariable, "off")
		debug.SetGCPercent(untouched)
		tuneCollector()
		if got := debug.SetGCPercent(untouched); got != want {
			t.Errorf("GOGC=%q: collected at %d percent, want %d", said, got, want)
		}
	}
}

func TestGOMEMLIMITFollowsTheContainerLimit(t *testing.T) {
	const (
		v1    = "/sys/fs/cgroup/memory/"
		v2    = "/sys/fs/cgroup/"
		group = "/proc/self/cgroup"
		none  = "9223372036854771712\n"
	)
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"version 2":                 {map[string]string{v2 + "memory.max": "134217728\n", group: "0::/\n"}, 128 << 20},
		"version 2 without a limit": {map[string]string{v2 + "memory.max": "max\n", group: "0::/\n"}, 0},
		"version 2 below the top":   {map[string]string{v2 + "a/b/memory.max": "1048576\n", group: "0::/a/b\n"}, 1 << 20},
		"version 1": {
			map[string]string{v1 + "memory.limit_in_bytes": "134217728\n", group: "4:memory:/on/the/host\n"}, 128 << 20,
		},
		"version 1 without a limit": {map[string]string{v1 + "memory.limit_in_bytes": none}, 0},
		"version 1 below the top": {map[string]string{
			v1 + "memory.limit_in_bytes": none, v1 + "a/memory.limit_in_bytes": "1048576\n", group: "3:cpu:/\n4:memory:/a\n",
		}, 1 << 20},
		"no control groups anywhere": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, content := range test.files {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := containerMemory(root); got != test.want {
				t.Errorf("%d bytes, want %d", got, test.want)
			}
		})
	}
}
