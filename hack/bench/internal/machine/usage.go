// Package machine starts the measured program isolated from everything else on a
// Linux machine, and reads the resource usage of processes.
package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: USER_HZ, which is 100 on every
// platform that Go runs on.
const tick = 10 * time.Millisecond

// Usage is the resource usage of a process.
type Usage struct {
	// CPU is its CPU time so far.
	CPU time.Duration
	// RSS is the memory that it holds, Peak the most since the last ResetPeak, both
	// in bytes.
	RSS, Peak int64
}

// UsageOf reads the resource usage of a process.
func UsageOf(pid int) (Usage, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, errStat := os.ReadFile(filepath.Join(dir, "stat"))
	status, errStatus := os.ReadFile(filepath.Join(dir, "status"))
	if err := errors.Join(errStat, errStatus); err != nil {
		return Usage{}, fmt.Errorf("read what process %d uses: %w", pid, err)
	}
	cpu, err := cpuTime(stat)
	if err != nil {
		return Usage{}, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return Usage{CPU: cpu, RSS: memory(status, "VmRSS"), Peak: memory(status, "VmHWM")}, nil
}

// ResetPeak resets the peak of a process to its current memory.
func ResetPeak(pid int) error {
	return os.WriteFile(filepath.Join("/proc", strconv.Itoa(pid), "clear_refs"), []byte("5"), 0)
}

// statFields returns the fields of /proc/PID/stat after the name of the program,
// which may contain anything.
func statFields(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// cpuTime returns the user and system time of a process from its stat file.
func cpuTime(stat []byte) (time.Duration, error) {
	fields := statFields(stat)
	if len(fields) < 13 {
		return 0, fmt.Errorf("%d fields in stat, want at least 13", len(fields))
	}
	var ticks int64
	for _, field := range fields[11:13] {
		value, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += value
	}
	return time.Duration(ticks) * tick, nil
}

// memory returns a value of /proc/PID/status in bytes, 0 if it is missing.
func memory(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != name+":" {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}

// Child returns the process of that program that this process has started.
func Child(name string) (pid int, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		program := string(stat[bytes.IndexByte(stat, '(')+1 : bytes.LastIndexByte(stat, ')')])
		fields := statFields(stat)
		if program != name || len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		return strconv.Atoi(filepath.Base(filepath.Dir(path)))
	}
	return 0, fmt.Errorf("this process has started no %s", name)
}
