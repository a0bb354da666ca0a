package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/c5c3/forge/hack/cluster/internal/node"
)

// Down stops this checkout's cluster, or finds the leftovers of a dead one of any
// checkout, and removes everything that it created.
func (c *Cluster) Down(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errors.New("ending the cluster needs root: run it as root or with sudo")
	}
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err := c.lookAround(); err != nil {
		return err
	}
	if err := c.report.Stage("Ending the cluster", func() error { return c.erase(ctx) }); err != nil {
		return err
	}
	c.report.Note("No cluster is left on this machine.")
	return os.RemoveAll(runDir)
}

// erase stops whatever runs and removes this checkout's cluster from machine
// and cache.
func (c *Cluster) erase(ctx context.Context) error {
	if err := clearMachine(ctx); err != nil {
		return err
	}
	if err := c.removeKubeconfig(); err != nil {
		return err
	}
	return os.RemoveAll(c.dir())
}

// killRecorded kills the processes that this machine's record names.
func killRecorded() error {
	recorded, err := readOwner()
	if err != nil || recorded == nil {
		return err
	}
	for _, m := range recorded.Members {
		if err := m.Init.Kill(); err != nil {
			return err
		}
	}
	return nil
}

// clearMachine removes what clusters leave outside a checkout. It removes only what
// is marked as theirs: the recorded processes, and the control group and the
// network links with their name. The files of a dead cluster stay in the cache of
// its checkout, from where it can be restored.
func clearMachine(ctx context.Context) error {
	if err := killRecorded(); err != nil {
		return err
	}
	if err := node.KillAll(); err != nil {
		return err
	}
	if err := node.RemoveLinks(ctx); err != nil {
		return err
	}
	if err := node.RemoveCgroups(); err != nil {
		return err
	}
	if err := os.Remove(ownerFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
