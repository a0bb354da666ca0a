package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	// Paths inside a node.
	kubeletConfig = "/var/lib/kubelet/config.yaml"
	kubeletFlags  = "/var/lib/kubelet/kubeadm-flags.env"
	// ContainerdSocket is where containerd listens, inside a node.
	ContainerdSocket = "/run/containerd/containerd.sock"
	// ContainerdConfig is containerd's configuration file, inside a node.
	ContainerdConfig = "/etc/containerd/config.toml"

	// logDir holds the services' logs, inside a node.
	logDir = "/var/log/forge"

	searchPath = "PATH=" + binDir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// service is a program that a node's init keeps running.
type service struct {
	name string
	// needs are the files that must exist before the service is started.
	needs []string
	// command returns the program and its arguments. It is called for every start.
	command func() ([]string, error)
}

// services returns the services of a node, which are started as soon as the files that
// they need exist.
func (n Node) services() []service {
	return []service{
		{
			name:  "containerd",
			needs: []string{ContainerdConfig},
			command: func() ([]string, error) {
				return []string{binDir + "/containerd", "--config", ContainerdConfig, "--log-level", "warn"}, nil
			},
		},
		{
			name: "kubelet",
			// kubeadm writes these while it waits for the kubelet.
			needs:   []string{ContainerdSocket, kubeletConfig, kubeletFlags},
			command: kubeletCommand,
		},
	}
}

// kubeletCommand returns the kubelet's command line, with the flags that kubeadm has
// chosen.
func kubeletCommand() ([]string, error) {
	data, err := os.ReadFile(kubeletFlags)
	if err != nil {
		return nil, err
	}
	flags, err := parseKubeletFlags(string(data))
	if err != nil {
		return nil, err
	}
	return append([]string{
		binDir + "/kubelet",
		"--config=" + kubeletConfig,
		"--kubeconfig=/etc/kubernetes/kubelet.conf",
		"--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
	}, flags...), nil
}

// parseKubeletFlags reads the flags from the environment file that kubeadm
// writes for systemd.
func parseKubeletFlags(env string) ([]string, error) {
	value, found := strings.CutPrefix(strings.TrimSpace(env), "KUBELET_KUBEADM_ARGS=")
	if !found {
		return nil, fmt.Errorf("%s has no KUBELET_KUBEADM_ARGS", kubeletFlags)
	}
	return strings.Fields(strings.Trim(value, `"`)), nil
}

// startable reports whether all files that the service needs exist.
func (s service) startable() bool {
	for _, file := range s.needs {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}
