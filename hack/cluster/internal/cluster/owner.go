package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/c5c3/forge/hack/cluster/internal/node"
)

// runDir is the folder, shared by all checkouts, that records whether this
// machine has a cluster and which checkout owns it.
const runDir = "/run/forge-cluster"

// owner is the record of a machine's cluster.
type owner struct {
	Checkout string    `json:"checkout"`
	Since    time.Time `json:"since"`
	Members  []member  `json:"members"`
}

// member is a node with its init process.
type member struct {
	Node    node.Node    `json:"node"`
	Init    node.Process `json:"init"`
	Started time.Time    `json:"started"`
}

// alive reports whether at least one of the recorded nodes still runs.
func (o owner) alive() bool {
	for _, m := range o.Members {
		if m.Init.Alive() {
			return true
		}
	}
	return false
}

func ownerFile() string { return filepath.Join(runDir, "owner.json") }

// readOwner returns the recorded owner, or nil if there is none.
func readOwner() (*owner, error) {
	data, err := os.ReadFile(ownerFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var o owner
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, nil // half written by a crash: as good as none
	}
	return &o, nil
}

func (o owner) write() error { return writeJSON(ownerFile(), o) }

// writeJSON replaces a file atomically, so that no reader sees a part of it.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	partial := path + ".partial"
	if err := os.WriteFile(partial, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// verdict classifies the machine's record from the point of view of a checkout.
type verdict int

const (
	// vacant: no cluster, and no record of one.
	vacant verdict = iota
	// ours: this checkout's cluster is running.
	ours
	// remains: leftovers of a dead cluster, of any checkout.
	remains
	// foreign: another checkout's cluster is running.
	foreign
)

// judge decides from the record and from the running nodes. A node that
// runs without a record belongs to another checkout unless it names this one, in which case
// its record was lost and it cannot be trusted.
func judge(recorded *owner, recordedAlive bool, running []node.Node, checkout string) (verdict, string) {
	if recorded != nil && recordedAlive {
		if recorded.Checkout == checkout {
			return ours, ""
		}
		return foreign, fmt.Sprintf("%s, since %s", recorded.Checkout, recorded.Since.Local().Format("2006-01-02 15:04:05"))
	}
	for _, n := range running {
		if n.Checkout != checkout {
			return foreign, n.Checkout
		}
	}
	if recorded != nil || len(running) > 0 {
		return remains, ""
	}
	return vacant, ""
}

// lookAround reads the record and judges it.
func (c *Cluster) lookAround() (*owner, verdict, error) {
	recorded, err := readOwner()
	if err != nil {
		return nil, vacant, err
	}
	running, err := node.Running()
	if err != nil {
		return nil, vacant, err
	}
	v, whose := judge(recorded, recorded != nil && recorded.alive(), running, c.checkout)
	if v == foreign {
		return recorded, v, fmt.Errorf("a cluster of another checkout is running on this machine: %s; "+
			"a machine has room for one, so end that first with \"make -C %s cluster-down\"", whose, strings.SplitN(whose, ", since", 2)[0])
	}
	return recorded, v, nil
}

// lock prevents other processes from changing the machine's cluster at the same time.
func lock() (unlock func(), err error) {
	if err := os.MkdirAll(runDir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(runDir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, errors.New("another cluster command is running on this machine: wait for it to end")
	}
	return func() { file.Close() }, nil
}
