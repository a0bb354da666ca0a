package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	readyLine = "ready"
	// namespaces are the namespaces that a node does not share with the host.
	namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC
)

// Start starts the node and returns its init. files are written into the
// node's root first; their paths are absolute inside the node. Files
// from an earlier run are used again, so that a stopped node
// comes back like a rebooted machine.
func (n Node) Start(ctx context.Context, files map[string]string) (Process, error) {
	if err := n.prepare(files); err != nil {
		return Process{}, err
	}
	initLog, err := os.OpenFile(n.Log("init"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return Process{}, err
	}
	defer initLog.Close()
	readyRead, readyWrite, err := os.Pipe()
	if err != nil {
		return Process{}, err
	}
	defer readyRead.Close()
	goRead, goWrite, err := os.Pipe()
	if err != nil {
		readyWrite.Close()
		return Process{}, err
	}
	// Closing it without writing makes an init that waits on it give up.
	defer goWrite.Close()

	process, err := n.launch(initLog, readyWrite, goRead)
	readyWrite.Close()
	goRead.Close()
	if err != nil {
		return Process{}, err
	}
	err = awaitReady(readyRead)
	if err == nil {
		err = n.Connect(ctx, process)
	}
	if err == nil {
		_, err = goWrite.WriteString("go\n")
	}
	if err != nil {
		return Process{}, errors.Join(err, process.Kill())
	}
	return process, nil
}

// prepare writes the node's files before its init starts.
func (n Node) prepare(files map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(n.Log("")), 0o755); err != nil {
		return err
	}
	if err := n.save(); err != nil {
		return err
	}
	for path, content := range files {
		path = filepath.Join(n.Root(), path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return n.ensureCgroups()
}

// launch starts the node's init in new namespaces. The init inherits the write end of
// ready and the read end of start.
func (n Node) launch(log, ready, start *os.File) (Process, error) {
	self, err := os.Executable()
	if err != nil {
		return Process{}, err
	}
	cmd := exec.Command(self, InitCommand, n.specFile())
	cmd.Env = []string{searchPath, "HOME=/root"}
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{ready, start}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Setsid: true}
	if err := cmd.Start(); err != nil {
		return Process{}, fmt.Errorf("creating the node's namespaces: %w", err)
	}
	// The init outlives this program, which only reaps it if it fails early.
	go func() { _ = cmd.Wait() }()
	return ProcessOf(cmd.Process.Pid)
}

// awaitReady waits for the init's report: readyLine, or the error that stopped it.
func awaitReady(ready io.Reader) error {
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the node's init ended before it was ready: %w", err)
	}
	if line = strings.TrimSpace(line); line != readyLine {
		return errors.New(line)
	}
	return nil
}

// Command returns a command that runs inside the node.
func Command(ctx context.Context, init Process, name string, args ...string) *exec.Cmd {
	inside := slices.Concat([]string{
		"--target", strconv.Itoa(init.PID), "--mount", "--uts", "--ipc", "--net", "--pid", "--",
		"/usr/bin/env", "-i", searchPath, "HOME=/root", "LC_ALL=C.UTF-8", name,
	}, args)
	return exec.CommandContext(ctx, "nsenter", inside...)
}

// Tool returns the path, inside a node, of one of the checkout's tools.
func Tool(name string) string { return filepath.Join(binDir, name) }

// Remove deletes the node's files. The node must have stopped.
func (n Node) Remove() error { return os.RemoveAll(n.Dir) }
