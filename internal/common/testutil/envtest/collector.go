package envtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// controllerManager is the binary that contains the garbage collector.
// setup-envtest does not install it.
const controllerManager = "kube-controller-manager"

// startCollector runs the garbage collector of a real kube-controller-manager
// until the returned function is called.
func startCollector(kubeconfig []byte) (stop func() error, err error) {
	bin, err := binary(controllerManager)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "collector-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	var output bytes.Buffer
	cmd := exec.Command(bin,
		"--kubeconfig="+path,
		"--controllers=garbage-collector-controller",
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	)
	cmd.Stdout, cmd.Stderr = &output, &output
	// If the test binary dies without cleaning up, the kernel kills the process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the garbage collector: %w", err), os.RemoveAll(dir))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return func() error {
		removed := os.RemoveAll(dir)
		select {
		case err := <-ended:
			return errors.Join(fmt.Errorf("the garbage collector ended early: %w\n%s", err, output.Bytes()), removed)
		default:
		}
		killed := cmd.Process.Kill()
		<-ended
		return errors.Join(killed, removed)
	}, nil
}
