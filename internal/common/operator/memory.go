package operator

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// The environment variables for the memory limit and the garbage percentage; the Go
// runtime reads both itself.
const (
	memoryVariable  = "GOMEMLIMIT"
	garbageVariable = "GOGC"
)

// garbagePercent is how much garbage may accumulate before it is collected, in
// percent of the memory in use. Nearly all of that is a cache, which is traversed
// rarely: Go's own 100 would double its size to save a little CPU time.
const garbagePercent = 25

// tuneCollector sets what the user has not set.
func tuneCollector() {
	if os.Getenv(garbageVariable) == "" {
		debug.SetGCPercent(garbagePercent)
	}
	limitMemory()
}

// usableMemory is the part of the container's limit that Go may use, in percent.
// The rest is for what its runtime does not count, such as the program itself.
const usableMemory = 90

// limitMemory makes the garbage collector work harder when the container's limit
// comes near, so that the operator is not killed with memory that could have been freed.
func limitMemory() {
	if os.Getenv(memoryVariable) != "" {
		return
	}
	if limit := containerMemory("/"); limit > 0 {
		debug.SetMemoryLimit(limit / 100 * usableMemory)
	}
}

// containerMemory returns the memory limit of this process's control group, in bytes,
// as seen below root; 0 means that there is no limit.
func containerMemory(root string) int64 {
	lowest := int64(math.MaxInt64)
	for _, file := range limitFiles(root) {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// Without a limit the file contains a word, or more than any machine has.
		limit, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err == nil && limit > 0 {
			lowest = min(lowest, limit)
		}
	}
	if lowest >= math.MaxInt64>>1 {
		return 0
	}
	return lowest
}

// limitFiles are the files that may hold the limit: of version 2 of control groups
// and of version 1. A container sees its own group at the top, or by its path.
func limitFiles(root string) []string {
	tree := filepath.Join(root, "sys/fs/cgroup")
	files := []string{filepath.Join(tree, "memory.max"), filepath.Join(tree, "memory/memory.limit_in_bytes")}
	groups, err := os.Open(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return files
	}
	defer groups.Close()
	scanner := bufio.NewScanner(groups)
	for scanner.Scan() {
		parts := strings.SplitN(scanner.Text(), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0":
			files = append(files, filepath.Join(tree, parts[2], "memory.max"))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			files = append(files, filepath.Join(tree, "memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return files
}
