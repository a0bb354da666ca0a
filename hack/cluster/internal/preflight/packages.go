package preflight

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// programs that the cluster runs from the host, and the Debian packages they
// come from. Those with a slash are looked up at exactly that path.
var programs = map[string]string{
	"ip":                      "iproute2",
	"nsenter":                 "util-linux",
	"mount":                   "mount",
	"nft":                     "nftables",
	"iptables":                "iptables",
	"conntrack":               "conntrack",
	"runc":                    "runc",
	"/usr/lib/cni/ptp":        "containernetworking-plugins",
	"/usr/lib/cni/host-local": "containernetworking-plugins",
	"/usr/lib/cni/loopback":   "containernetworking-plugins",
	"/usr/lib/cni/portmap":    "containernetworking-plugins",
}

// MissingPackages returns the Debian packages of which a program is missing,
// sorted.
func MissingPackages() []string {
	return missingPackages(func(program string) bool {
		if strings.Contains(program, "/") {
			_, err := os.Stat(program)
			return !errors.Is(err, fs.ErrNotExist)
		}
		_, err := exec.LookPath(program)
		return err == nil
	})
}

// missingPackages returns the packages of the programs that are not installed, sorted.
func missingPackages(installed func(program string) bool) []string {
	var missing []string
	for program, pkg := range programs {
		if !installed(program) {
			missing = append(missing, pkg)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}
