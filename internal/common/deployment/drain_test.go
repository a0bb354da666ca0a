package deployment_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/deployment"
)

// sleeps runs the hook and returns for how many seconds it sleeps in all. opened has the
// connections that the pod has accepted at each sleep, the last one from then on.
func sleeps(t *testing.T, opened ...int) int {
	t.Helper()
	folder := t.TempDir()
	file := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	snmp := func(n int) string {
		return fmt.Sprintf("Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens\nTcp: 1 200 120000 -1 0 %d\n", n)
	}
	file("tcp", "  sl  local_address rem_address   st\n")
	for i, n := range opened {
		file(fmt.Sprintf("snmp.%d", i), snmp(n))
	}
	file("snmp", snmp(opened[0]))
	// In place of time, the next count passes.
	clock := `i=0; sleep() { echo "$1"; i=$((i+1)); [ ! -e ` + folder + `/snmp.$i ] || cp ` + folder + `/snmp.$i ` + folder + `/snmp; }; `
	hook := deployment.DrainHook("harbour", 5).PreStop.Exec.Command
	script := strings.NewReplacer("/proc/net", folder, "/dev/shm", folder).Replace(hook[2])
	out, err := exec.Command(hook[0], hook[1], clock+script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	total := 0
	for line := range strings.FieldsSeq(string(out)) {
		seconds, err := strconv.Atoi(line)
		if err != nil {
			t.Fatalf("the hook printed %q", out)
		}
		total += seconds
	}
	return total
}

func TestDrainWaitsLongerForQuietIfThePodHadRequests(t *testing.T) {
	for name, c := range map[string]struct {
		opened []int
		want   int
	}{
		"no request at all":                        {[]int{7, 7}, 5 + 2},
		"requests until the pod left the Service":  {[]int{7, 9, 9}, 5 + 6},
		"a pause because the node is busy":         {[]int{7, 9, 9, 9, 10, 10}, 5 + 4 + 2 + 6},
		"the first request after the first pause":  {[]int{7, 7, 8, 8}, 5 + 2 + 6},
		"requests that arrive during all the time": {[]int{7, 8, 9, 10, 11, 12, 12}, 5 + 8 + 6},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sleeps(t, c.opened...); got != c.want {
				t.Errorf("the pod stops after %d s, want %d", got, c.want)
			}
		})
	}
}
