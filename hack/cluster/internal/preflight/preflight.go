// Package preflight checks, before anything is changed, whether this
// machine can run a cluster.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Alternative is the advice for a machine that cannot run this cluster.
const Alternative = `Use a cluster of your own instead, for example kind with Docker:
  kind create cluster && kind export kubeconfig --kubeconfig kubeconfig`

// ProbeCommand is the hidden subcommand that tries, in separate namespaces,
// what a node will do.
const ProbeCommand = "probe"

// minMemory is the memory, in MiB, that the cluster and a small workload use, with
// some reserve.
const minMemory = 3500

// minDisk is the space, in MiB, of binaries, images and their unpacked form.
const minDisk = 6000

// facts are the input of the checks.
type facts struct {
	uid int
	// memory and disk are in MiB; disk is what is free for the cache.
	memory, disk uint64
	// missing are kernel features; configKnown is whether they could be read.
	missing []feature
	// probe is the error of trying namespaces and mounts, if it failed.
	probe error
	// cgroupControllers are those that this machine offers.
	cgroupControllers []string
}

// Check returns one error that lists all problems, or
// nil. cache is the folder that will hold the cluster.
func Check(ctx context.Context, cache string) error {
	f, err := gather(ctx, cache)
	if err != nil {
		return err
	}
	problems := f.problems()
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("this machine cannot run the local cluster:\n  - %s\n%s",
		strings.Join(problems, "\n  - "), Alternative)
}

// problems returns everything that prevents a cluster on this machine, each with its
// remedy.
func (f facts) problems() []string {
	if f.uid != 0 {
		// Without root nothing else can be determined reliably.
		return []string{"it needs root, to create namespaces and mounts: run it as root or with sudo"}
	}
	var problems []string
	if len(f.missing) > 0 {
		problems = append(problems, "the kernel lacks "+list(f.missing))
	}
	for _, controller := range []string{"cpu", "cpuset", "memory", "pids"} {
		if !slices.Contains(f.cgroupControllers, controller) {
			problems = append(problems, fmt.Sprintf("the %s control group controller is not available: mount it below /sys/fs/cgroup", controller))
		}
	}
	if f.probe != nil {
		problems = append(problems, fmt.Sprintf("namespaces and mounts are not permitted, as in most containers: %v", f.probe))
	}
	return append(problems, f.sizeProblems()...)
}

func (f facts) sizeProblems() (problems []string) {
	if f.memory < minMemory {
		problems = append(problems, fmt.Sprintf("it has %d MiB of memory, and %d are needed", f.memory, minMemory))
	}
	if f.disk < minDisk {
		problems = append(problems, fmt.Sprintf("%d MiB of disk are free, and %d are needed", f.disk, minDisk))
	}
	return problems
}

func list(features []feature) string {
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = fmt.Sprintf("%s (%s)", f.option, f.purpose)
	}
	return strings.Join(names, ", ")
}

// gather collects the facts. It needs root; without it, it collects nothing else.
func gather(ctx context.Context, cache string) (facts, error) {
	f := facts{uid: os.Geteuid()}
	if f.uid != 0 {
		return f, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return f, err
	}
	if err := f.readKernel(); err != nil {
		return f, err
	}
	if err := f.readSizes(cache); err != nil {
		return f, err
	}
	controllers, err := cgroupControllers()
	if err != nil {
		return f, err
	}
	f.cgroupControllers = controllers
	f.probe = runProbe(ctx, cache)
	return f, nil
}

// readKernel looks for missing features in the kernel's configuration, if that can be
// read.
func (f *facts) readKernel() error {
	config, err := openKernelConfig()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it does not tell; the probe will have to do
	}
	if err != nil {
		return err
	}
	defer config.Close()
	f.missing, err = missingFeatures(config)
	return err
}

// readSizes reads the memory of the machine and the free disk space of the cache.
func (f *facts) readSizes(cache string) error {
	var system syscall.Sysinfo_t
	if err := syscall.Sysinfo(&system); err != nil {
		return err
	}
	f.memory = system.Totalram * uint64(system.Unit) >> 20
	var disk syscall.Statfs_t
	if err := syscall.Statfs(cache, &disk); err != nil {
		return fmt.Errorf("reading the free space of %s: %w", cache, err)
	}
	f.disk = disk.Bavail * uint64(disk.Bsize) >> 20
	return nil
}

// cgroupControllers returns the controllers that can be used, of version 2
// where it has any, else of version 1.
func cgroupControllers() ([]string, error) {
	unified, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
	if err == nil {
		return strings.Fields(string(unified)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var controllers []string
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[2] == "cgroup" {
			controllers = append(controllers, strings.Split(fields[3], ",")...)
		}
	}
	return controllers, nil
}

// runProbe tries namespaces and an overlay in a child process whose mounts
// are private.
func runProbe(ctx context.Context, cache string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cache, "probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, self, ProbeCommand, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// Probe is the child's part: it lays an overlay over /usr in dir, as a node
// does. The mount ends with the process.
func Probe(dir string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("changing mounts: %w", err)
	}
	for _, name := range []string{"upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=/usr,upperdir=%[1]s/upper,workdir=%[1]s/work", dir)
	if err := syscall.Mount("overlay", filepath.Join(dir, "merged"), "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay on %s: %w", filepath.Dir(dir), err)
	}
	return nil
}
