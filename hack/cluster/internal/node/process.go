package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// InitCommand is the hidden subcommand under which the program runs as a
// node's init. It also makes a node recognisable in the process table.
const InitCommand = "node-init"

// Process identifies a process so that another one that reuses its id is not
// mistaken for it.
type Process struct {
	PID int `json:"pid"`
	// Start is when the process started, in clock ticks since boot.
	Start uint64 `json:"start"`
	// BootID identifies the boot, since ticks start again with each.
	BootID string `json:"bootID"`
}

// ProcessOf identifies a running process.
func ProcessOf(pid int) (Process, error) {
	start, err := startTicks(pid)
	if err != nil {
		return Process{}, err
	}
	boot, err := bootID()
	if err != nil {
		return Process{}, err
	}
	return Process{PID: pid, Start: start, BootID: boot}, nil
}

// Alive reports whether this very process still runs.
func (p Process) Alive() bool {
	now, err := ProcessOf(p.PID)
	return err == nil && now == p
}

// Kill kills the process and waits until it has gone.
func (p Process) Kill() error {
	if !p.Alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending process %d: %w", p.PID, err)
	}
	// The kernel releases an init only when its whole tree is gone, which
	// may have much memory to free.
	for deadline := time.Now().Add(30 * time.Second); p.Alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not end; look for what it waits for in /proc/%d/stack", p.PID, p.PID)
		}
	}
	return nil
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}

// startTicks returns when the process started, in clock ticks since boot.
func startTicks(pid int) (uint64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStartTicks(string(data))
}

// parseStartTicks reads field 22 of proc(5)'s stat. The process's name, field
// 2, may itself hold spaces and parentheses, so fields count from the last
// parenthesis on. A zombie counts as gone: it may have no parent to reap it.
func parseStartTicks(stat string) (uint64, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, errors.New("unexpected form of /proc/<pid>/stat")
	}
	if fields[0] == "Z" {
		return 0, os.ErrProcessDone
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

// Running finds the nodes that run on this machine, from whichever checkout,
// by the command lines of their init processes. It is used when the record
// of them is lost. Only root has nodes: a process of another user, or a file that
// another user can write, is not trusted.
func Running() ([]Node, error) { return runningAs(0, "/proc") }

// runningAs is Running for the nodes of a user, based on a folder like /proc.
func runningAs(uid int, proc string) ([]Node, error) {
	files, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "cmdline"))
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended since
		}
		args := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
		if len(args) != 3 || args[1] != InitCommand || !runsAs(uid, filepath.Dir(file)) || !writtenBy(uid, args[2]) {
			continue
		}
		if n, err := load(args[2]); err == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// runsAs reports whether all user ids of the process are the given one. The owner
// of its folder is no proof: a process can make that root by itself.
func runsAs(uid int, folder string) bool {
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if ids, found := strings.CutPrefix(line, "Uid:"); found {
			return slices.Equal(strings.Fields(ids), slices.Repeat([]string{strconv.Itoa(uid)}, 4))
		}
	}
	return false
}

// writtenBy reports whether only the user, and root, can write to the file.
func writtenBy(uid int, path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid && info.Mode().Perm()&0o022 == 0
}
