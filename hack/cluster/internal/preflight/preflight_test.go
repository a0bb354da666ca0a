package preflight

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func fit() facts {
	return facts{memory: minMemory, disk: minDisk, cgroupControllers: []string{"cpu", "cpuset", "memory", "pids"}}
}

func TestEachObstacleIsNamed(t *testing.T) {
	cases := map[string]struct {
		change func(*facts)
		want   []string
	}{
		"a fit machine has none": {func(*facts) {}, nil},
		"without root only that is told": {
			func(f *facts) { f.uid = 1000; f.memory = 0 },
			[]string{"it needs root, to create namespaces and mounts: run it as root or with sudo"},
		},
		"a missing kernel feature comes with its purpose": {
			func(f *facts) { f.missing = []feature{{"CONFIG_VETH", "links"}, {"CONFIG_X", "y"}} },
			[]string{"the kernel lacks CONFIG_VETH (links), CONFIG_X (y)"},
		},
		"a missing controller": {
			func(f *facts) { f.cgroupControllers = []string{"cpu", "cpuset", "pids"} },
			[]string{"the memory control group controller is not available: mount it below /sys/fs/cgroup"},
		},
		"a container that may not mount": {
			func(f *facts) { f.probe = errors.New("operation not permitted") },
			[]string{"namespaces and mounts are not permitted, as in most containers: operation not permitted"},
		},
		"too little memory and disk": {
			func(f *facts) { f.memory, f.disk = 1024, 100 },
			[]string{"it has 1024 MiB of memory, and 3500 are needed", "100 MiB of disk are free, and 6000 are needed"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := fit()
			tc.change(&f)
			if diff := cmp.Diff(tc.want, f.problems()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModulesAndBuiltInFeaturesBothCount(t *testing.T) {
	var config strings.Builder
	for i, f := range features {
		switch {
		case f.option == "CONFIG_VETH":
			config.WriteString("# CONFIG_VETH is not set\n")
		case f.option == "CONFIG_OVERLAY_FS":
			// Omitted entirely, like options whose parent is disabled.
		case i%2 == 0:
			config.WriteString(f.option + "=y\n")
		default:
			config.WriteString(f.option + "=m\n")
		}
	}
	missing, err := missingFeatures(strings.NewReader(config.String()))
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(missing))
	for _, f := range missing {
		names = append(names, f.option)
	}
	if diff := cmp.Diff([]string{"CONFIG_OVERLAY_FS", "CONFIG_VETH"}, names); diff != "" {
		t.Errorf("missing features (-want +got):\n%s", diff)
	}
}

func TestAPackageIsMissingWhenAnyOfItsProgramsIs(t *testing.T) {
	got := missingPackages(func(program string) bool {
		return program != "runc" && program != "/usr/lib/cni/ptp" && program != "/usr/lib/cni/portmap"
	})
	if diff := cmp.Diff([]string{"containernetworking-plugins", "runc"}, got); diff != "" {
		t.Errorf("missing packages (-want +got):\n%s", diff)
	}
	if got := missingPackages(func(string) bool { return true }); len(got) > 0 {
		t.Errorf("missing packages %v although every program is there", got)
	}
}
