package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

const (
	// Descriptors that a node's init inherits from its parent.
	readyFD = 3
	goFD    = 4

	// maxOpenFiles is the limit of open files for everything in a node. Some
	// programs (uWSGI) allocate memory for every descriptor they might open,
	// and some systems allow a thousand million.
	maxOpenFiles = 1 << 20
)

// RunInit runs a node's init, process 1 of the node. It builds the
// node's root from the description in specFile, reports success by a line on
// one inherited descriptor, waits on the other until the network is set up,
// and then keeps the node's services running. It returns only on an error.
func RunInit(specFile string) error {
	ready, start := os.NewFile(readyFD, "ready"), os.NewFile(goFD, "go")
	// Services must not hold these open.
	syscall.CloseOnExec(readyFD)
	syscall.CloseOnExec(goFD)

	n, err := load(specFile)
	if err == nil {
		err = n.setUp()
	}
	if err != nil {
		fmt.Fprintln(ready, err)
		return err
	}
	fmt.Fprintln(ready, readyLine)
	ready.Close()

	if err := awaitStart(start); err != nil {
		return err
	}
	if err := writeSysctls(nodeSysctls); err != nil {
		return fmt.Errorf("setting up the network: %w", err)
	}
	return newSupervisor(n.services(), logDir).run(context.Background())
}

// awaitStart waits until the process that starts this node has set up its network.
func awaitStart(start *os.File) error {
	signal, err := io.ReadAll(start)
	if err != nil {
		return err
	}
	start.Close()
	if len(signal) == 0 {
		return errors.New("the process that starts this node has exited")
	}
	return nil
}

// setUp turns the process into the node: it joins the node's control group, sets
// its host name, enters its root and lowers the limit of open files.
func (n Node) setUp() error {
	if err := n.joinCgroup(); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(n.Name)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	if err := n.enterRoot(); err != nil {
		return err
	}
	return limitOpenFiles()
}

// limitOpenFiles lowers the limit if it is higher. Raising it is not
// allowed everywhere, and never needed.
func limitOpenFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of open files: %w", err)
	}
	limit.Max = min(limit.Max, maxOpenFiles)
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limiting open files: %w", err)
	}
	return nil
}
