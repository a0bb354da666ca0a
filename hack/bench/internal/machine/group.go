package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group is a control group that accounts for the memory of its processes, and
// may limit it.
type Group struct {
	dir   string
	files files
}

// files are the names of what is read and written in a group.
type files struct{ limit, peak, kills string }

var (
	version1 = files{limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes", kills: "memory.oom_control"}
	version2 = files{limit: "memory.max", peak: "memory.peak", kills: "memory.events"}
)

// NewGroup creates a group, with a limit in bytes unless that is 0. It fails where
// control groups cannot be created.
func NewGroup(limit int64) (*Group, error) {
	mount, names, err := parentGroup()
	if err != nil {
		return nil, err
	}
	g := &Group{dir: filepath.Join(mount, "forge-bench-"+strconv.Itoa(os.Getpid())), files: names}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	if limit == 0 {
		return g, nil
	}
	if err := g.write(names.limit, limit); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// parentGroup returns the folder in which groups are created, and the names of their files.
func parentGroup() (mount string, names files, err error) {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return "", files{}, err
	}
	defer mounts.Close()
	if mount, names, err = memoryTree(mounts); err != nil || names != version2 {
		return mount, names, err
	}
	// Without it the group accounts for nothing.
	if err := os.WriteFile(filepath.Join(mount, "cgroup.subtree_control"), []byte("+memory"), 0o644); err != nil {
		return "", files{}, fmt.Errorf("enable the memory controller: %w", err)
	}
	return mount, names, nil
}

// memoryTree finds the hierarchy of control groups that accounts for memory.
func memoryTree(mounts io.Reader) (mount string, names files, err error) {
	scanner := bufio.NewScanner(mounts)
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		switch {
		case len(fields) < 4:
		case fields[2] == "cgroup" && slices.Contains(strings.Split(fields[3], ","), "memory"):
			return fields[1], version1, nil
		case fields[2] == "cgroup2":
			mount = fields[1]
		}
	}
	if mount == "" {
		return "", files{}, errors.Join(errors.New("no control groups are mounted"), scanner.Err())
	}
	return mount, version2, scanner.Err()
}

// Procs is the file through which a process joins the group.
func (g *Group) Procs() string { return filepath.Join(g.dir, "cgroup.procs") }

// Peak returns the maximum memory of the group in bytes, including the page cache that
// the kernel keeps for it.
func (g *Group) Peak() (int64, error) {
	data, err := os.ReadFile(filepath.Join(g.dir, g.files.peak))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
}

// Kills returns how often a process of the group was killed because of its limit.
func (g *Group) Kills() (int, error) {
	data, err := os.ReadFile(filepath.Join(g.dir, g.files.kills))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			return strconv.Atoi(strings.TrimSpace(count))
		}
	}
	return 0, nil
}

// busyTimeout is how long a group may stay busy after its last process.
const busyTimeout = 5 * time.Second

// Close removes the group. Its processes must have ended.
func (g *Group) Close() error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(20 * time.Millisecond) {
		err := os.Remove(g.dir)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// write writes a value to one of the group's files.
func (g *Group) write(file string, value int64) error {
	if err := os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(value, 10)), 0o644); err != nil {
		return fmt.Errorf("limit the memory of a control group: %w", err)
	}
	return nil
}
