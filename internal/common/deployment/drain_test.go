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

// request is a connection over the loopback address, as the kernel lists it in a table.
type request struct{ table, address string }

// sleeps runs the hook and returns for how many seconds it sleeps in all. opened has the
// connections that the pod has accepted at each sleep, the last one from then on. The requests
// are in flight until the third sleep ends.
func sleeps(t *testing.T, opened []int, requests ...request) int {
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
	const header = "  sl  local_address rem_address   st\n"
	file("tcp", header)
	for _, r := range requests {
		file(r.table, fmt.Sprintf("%s   0: %[2]s:1388 %[2]s:9C40 01\n", header, r.address))
		file(r.table+".3", header)
	}
	for i, n := range opened {
		file(fmt.Sprintf("snmp.%d", i), snmp(n))
	}
	file("snmp", snmp(opened[0]))
	// In place of time, the next count passes.
	clock := `i=0; sleep() { echo "$1"; i=$((i+1)); for f in snmp tcp tcp6; do ` +
		`[ ! -e ` + folder + `/$f.$i ] || cp ` + folder + `/$f.$i ` + folder + `/$f; done; }; `
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
			if got := sleeps(t, c.opened); got != c.want {
				t.Errorf("the pod stops after %d s, want %d", got, c.want)
			}
		})
	}
}

func TestDrainWaitsForRequestsInFlight(t *testing.T) {
	for name, r := range map[string]request{
		"over IPv4": {"tcp", "0100007F"},
		"over IPv6": {"tcp6", "00000000000000000000000001000000"},
	} {
		t.Run(name, func(t *testing.T) {
			// The first sleep is that of the hook. The other two see the request.
			if got, want := sleeps(t, []int{7}, r), 5+2+2+2; got != want {
				t.Errorf("the pod stops after %d s, want %d", got, want)
			}
		})
	}
}
