package node

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hierarchy is one mounted tree of control groups.
type hierarchy struct {
	mount string
	v2    bool
	// options of a version 1 hierarchy name its controllers.
	options []string
}

// hierarchies returns the control group hierarchies that are mounted on this machine.
func hierarchies() ([]hierarchy, error) {
	file, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parseHierarchies(file)
}

// parseHierarchies finds the control group hierarchies in a table of mounts.
func parseHierarchies(mounts io.Reader) ([]hierarchy, error) {
	var found []hierarchy
	scanner := bufio.NewScanner(mounts)
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		if len(fields) < 4 {
			continue
		}
		switch h := (hierarchy{mount: fields[1]}); fields[2] {
		case "cgroup":
			h.options = strings.Split(fields[3], ",")
			found = append(found, h)
		case "cgroup2":
			h.v2 = true
			found = append(found, h)
		}
	}
	return found, scanner.Err()
}

// inUse returns the hierarchies that limit pods. If version 1 does, a
// version 2 tree next to it has no controllers.
func inUse(all []hierarchy) []hierarchy {
	if v1 := slices.DeleteFunc(slices.Clone(all), func(h hierarchy) bool { return h.v2 }); len(v1) > 0 {
		return v1
	}
	return all
}

// hasDaemons reports whether a node's processes join their group here: where they are found
// again, and where CPU time is distributed. Outside of it, each would compete with all pods
// together, and a kubelet that waits for CPU time takes healthy pods out of service, because
// its probes time out. In the other hierarchies they remain subject to the limits of their
// parent group.
func (h hierarchy) hasDaemons() bool {
	return h.v2 || slices.Contains(h.options, "pids") || slices.Contains(h.options, "cpu")
}

// shareOfCPU is how much CPU time a cluster gets under contention, as a
// multiple of what one process outside of it gets. Without it all pods together
// would get as much as a single compiler process.
const shareOfCPU = 8

// ensureCgroups creates the node's control groups in every hierarchy.
func (n Node) ensureCgroups() error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	for _, tree := range inUse(trees) {
		for _, group := range []string{n.PodCgroup(), n.daemonCgroup()} {
			if err := tree.ensure(group); err != nil {
				return fmt.Errorf("creating control group %s in %s: %w", group, tree.mount, err)
			}
		}
		if err := tree.weigh(cgroupParent); err != nil {
			return fmt.Errorf("giving control group %s its share in %s: %w", cgroupParent, tree.mount, err)
		}
	}
	return nil
}

// weigh sets a group's share of the CPU time, if this hierarchy is the
// one that distributes it.
func (h hierarchy) weigh(group string) error {
	file, value := "cpu.shares", 1024*shareOfCPU
	if h.v2 {
		file, value = "cpu.weight", 100*shareOfCPU
	}
	path := filepath.Join(h.mount, group, file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return os.WriteFile(path, []byte(strconv.Itoa(value)), 0o644)
}

// ensure creates a group with its parents, each with the controllers of its
// parent enabled for its children.
func (h hierarchy) ensure(group string) error {
	dir := h.mount
	for name := range strings.SplitSeq(strings.Trim(group, "/"), "/") {
		parent := dir
		dir = filepath.Join(dir, name)
		if h.v2 {
			if err := delegate(parent); err != nil {
				return err
			}
		}
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if slices.Contains(h.options, "cpuset") {
			if err := inheritCPUSet(parent, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// inheritCPUSet gives a new version 1 cpuset the processors and memory of its
// parent: it starts with none and then accepts no process.
func inheritCPUSet(parent, dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// delegate passes the controllers that pods need on to the children of a
// version 2 group.
func delegate(dir string) error {
	available, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	enabled, err := os.ReadFile(control)
	if err != nil {
		return err
	}
	for _, name := range missingControllers(string(available), string(enabled)) {
		if err := os.WriteFile(control, []byte("+"+name), 0o644); err != nil {
			return fmt.Errorf("enabling the %s controller: %w", name, err)
		}
	}
	return nil
}

// missingControllers returns the controllers that pods need and that are available, but
// not yet enabled for child groups.
func missingControllers(available, enabled string) []string {
	var missing []string
	for _, name := range []string{"cpuset", "cpu", "io", "memory", "hugetlb", "pids"} {
		if slices.Contains(strings.Fields(available), name) && !slices.Contains(strings.Fields(enabled), name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// joinCgroup moves the calling process into the node's group of daemons.
func (n Node) joinCgroup() error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	for _, tree := range inUse(trees) {
		if !tree.hasDaemons() {
			continue
		}
		procs := filepath.Join(tree.mount, n.daemonCgroup(), "cgroup.procs")
		if err := os.WriteFile(procs, []byte("0"), 0o644); err != nil {
			return fmt.Errorf("joining %s: %w", procs, err)
		}
	}
	return nil
}

// KillAll kills every process in a control group of any node. It is for leftovers of a
// dead cluster; a running node ends with its init.
func KillAll() error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		pids, err := cgroupProcesses()
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v in control group %s do not end", pids, cgroupParent)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("ending process %d: %w", pid, err)
			}
		}
	}
}

// cgroupProcesses returns the ids of all processes in the nodes' control groups, in any
// hierarchy.
func cgroupProcesses() ([]int, error) {
	trees, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, tree := range trees {
		found, err := processesBelow(filepath.Join(tree.mount, cgroupParent))
		if err != nil {
			return nil, err
		}
		pids = append(pids, found...)
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}

// processesBelow returns the ids of the processes in a group and in those below it.
func processesBelow(root string) (pids []int, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the group has gone meanwhile
		case err != nil || d.Name() != "cgroup.procs":
			return err
		}
		found, err := pidsIn(path)
		pids = append(pids, found...)
		return err
	})
	return pids, err
}

// pidsIn returns the ids in a cgroup.procs file, none if its group has gone meanwhile.
func pidsIn(path string) (pids []int, err error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENODEV) {
		return nil, err
	}
	for field := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// RemoveCgroups removes all nodes' control groups, including those that containers
// created. Their processes must have ended.
func RemoveCgroups() error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if err := removeTree(filepath.Join(tree.mount, cgroupParent)); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes a group and those below it, the deepest first. Only the
// directories can be removed; their files go with them.
func removeTree(root string) error {
	dirs, err := groupsBelow(root)
	if err != nil {
		return err
	}
	slices.Reverse(dirs)
	for _, dir := range dirs {
		if err := removeGroup(dir); err != nil {
			return fmt.Errorf("removing control group %s: %w", dir, err)
		}
	}
	return nil
}

// groupsBelow returns a group and those below it, each before those below it.
func groupsBelow(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return dirs, err
}

// removeGroup removes a group without others below it. It stays busy for a moment after its
// last process.
func removeGroup(dir string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := syscall.Rmdir(dir)
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
