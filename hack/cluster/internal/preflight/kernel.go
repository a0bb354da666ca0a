package preflight

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// feature is an option of the kernel's configuration and what needs it.
type feature struct {
	option, purpose string
}

var features = []feature{
	{"CONFIG_NAMESPACES", "separating the cluster from the host"},
	{"CONFIG_NET_NS", "the cluster's own network"},
	{"CONFIG_PID_NS", "the cluster's own processes"},
	{"CONFIG_OVERLAY_FS", "the file systems of containers"},
	{"CONFIG_VETH", "the links between host, node and pods"},
	{"CONFIG_NF_TABLES", "the packet rules behind Services"},
	{"CONFIG_NF_TABLES_INET", "the packet rules behind Services"},
	{"CONFIG_NFT_NAT", "the packet rules behind Services"},
	{"CONFIG_NFT_MASQ", "the packet rules behind Services"},
	{"CONFIG_NFT_NUMGEN", "the packet rules behind Services"},
	{"CONFIG_NFT_FIB_INET", "the packet rules behind Services"},
	{"CONFIG_NFT_REJECT_INET", "the packet rules behind Services"},
	{"CONFIG_NFT_CT", "the packet rules behind Services"},
	{"CONFIG_CGROUPS", "the limits of pods"},
	{"CONFIG_MEMCG", "the memory limits of pods"},
	{"CONFIG_CPUSETS", "the processor limits of pods"},
	{"CONFIG_CFS_BANDWIDTH", "the processor limits of pods"},
	{"CONFIG_CGROUP_PIDS", "the process limits of pods"},
	{"CONFIG_SECCOMP_FILTER", "the security profiles of pods"},
}

// missingFeatures returns those that a kernel configuration does not enable,
// neither built in nor as a module.
func missingFeatures(config io.Reader) ([]feature, error) {
	enabled := map[string]bool{}
	scanner := bufio.NewScanner(config)
	for scanner.Scan() {
		option, value, _ := strings.Cut(scanner.Text(), "=")
		enabled[option] = value == "y" || value == "m"
	}
	var missing []feature
	for _, f := range features {
		if !enabled[f.option] {
			missing = append(missing, f)
		}
	}
	return missing, scanner.Err()
}

// openKernelConfig opens the running kernel's configuration, from itself or
// from where distributions put it. If there is none, the error
// wraps fs.ErrNotExist.
func openKernelConfig() (io.ReadCloser, error) {
	if file, err := os.Open("/proc/config.gz"); err == nil {
		return gzip.NewReader(file)
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return nil, err
	}
	return os.Open("/boot/config-" + strings.TrimSpace(string(release)))
}
