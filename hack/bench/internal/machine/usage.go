// Package machine starts the measured program isolated from everything else on a
// Linux machine, and reads the resource usage of processes.
package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
)

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
	process, err := procfs.NewProc(pid)
	if err != nil {
		return Usage{}, err
	}
	stat, errStat := process.Stat()
	status, errStatus := process.NewStatus()
	if err := errors.Join(errStat, errStatus); err != nil {
		return Usage{}, fmt.Errorf("read what process %d uses: %w", pid, err)
	}
	return Usage{CPU: time.Duration(stat.CPUTime() * float64(time.Second)), RSS: int64(status.VmRSS), Peak: int64(status.VmHWM)}, nil
}

// ResetPeak resets the peak of a process to its current memory.
func ResetPeak(pid int) error {
	return os.WriteFile(filepath.Join("/proc", strconv.Itoa(pid), "clear_refs"), []byte("5"), 0)
}

// Child returns the process of that program that this process has started.
func Child(name string) (pid int, err error) {
	processes, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		// It fails if the process has ended meanwhile.
		if stat, err := process.Stat(); err == nil && stat.Comm == name && stat.PPID == os.Getpid() {
			return process.PID, nil
		}
	}
	return 0, fmt.Errorf("this process has started no %s", name)
}
