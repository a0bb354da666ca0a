package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// enter is what a shell does in the mount namespace of a program: it joins the control group,
// unless that is empty, gives the program its /etc/hosts, which must not propagate to other
// namespaces, and becomes it.
const enter = `set -e
group=$1 hosts=$2
shift 2
[ -z "$group" ] || echo 0 >"$group"
mount --make-rprivate /
mount --bind "$hosts" /etc/hosts
exec "$@"`

// stopTimeout is how long a program may take to exit after a request to stop: half a
// minute, as for a pod.
const stopTimeout = 30 * time.Second

// Spec says what to start.
type Spec struct {
	// Command is the path of the program with its arguments.
	Command []string
	// Env is added to this process's environment.
	Env []string
	// Hosts is the file that the program gets as /etc/hosts.
	Hosts string
	// Group is the control group of the program; nil means that of this process.
	Group *Group
	// Output receives what the program writes.
	Output *os.File
}

// Process is a started program.
type Process struct {
	name  string
	cmd   *exec.Cmd
	group *Group
	ended chan struct{}
	err   error
}

// Start starts a program in a separate mount namespace.
func Start(spec Spec) (*Process, error) {
	procs := ""
	if spec.Group != nil {
		procs = spec.Group.Procs()
	}
	cmd := exec.Command("sh", append([]string{"-c", enter, "sh", procs, spec.Hosts}, spec.Command...)...)
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Stdout, cmd.Stderr = spec.Output, spec.Output
	cmd.SysProcAttr = separated()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s in a mount namespace, which needs root or user namespaces: %w", spec.Command[0], err)
	}
	process := &Process{name: spec.Command[0], cmd: cmd, group: spec.Group, ended: make(chan struct{})}
	go func() {
		process.err = cmd.Wait()
		close(process.ended)
	}()
	return process, nil
}

// separated gives a process its own mount namespace. It must not outlive this process.
func separated() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return attributes
}

// Usage returns the current resource usage of the program.
func (p *Process) Usage() (Usage, error) { return UsageOf(p.cmd.Process.Pid) }

// ResetPeak resets the peak of its memory.
func (p *Process) ResetPeak() error { return ResetPeak(p.cmd.Process.Pid) }

// Alive returns an error that describes how the program has exited, if it has.
func (p *Process) Alive() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	if p.group != nil {
		if kills, err := p.group.Kills(); err == nil && kills > 0 {
			return fmt.Errorf("%s was killed: its memory has reached the limit", p.name)
		}
	}
	return fmt.Errorf("%s has ended: %w", p.name, errors.Join(p.err, errors.New("see its log")))
}

// Stop asks the program to exit and waits until it has.
func (p *Process) Stop() error {
	if err := p.Alive(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return p.err
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("%s has not ended within %s", p.name, stopTimeout), p.Kill())
	}
}

// Kill kills the program, if it runs.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	return nil
}
