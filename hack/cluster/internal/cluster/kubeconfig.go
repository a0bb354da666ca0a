package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/c5c3/forge/hack/cluster/internal/node"
)

// hasForeignKubeconfig reports whether there is a kubeconfig that is not for this
// cluster.
func (c *Cluster) hasForeignKubeconfig() (bool, error) {
	data, err := os.ReadFile(c.kubeconfig())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !strings.Contains(string(data), "https://"+c.firstNode().Address().String()+":6443"), nil
}

// keepForeignKubeconfig returns an error if writing our kubeconfig would overwrite that
// of another cluster.
func (c *Cluster) keepForeignKubeconfig() error {
	foreign, err := c.hasForeignKubeconfig()
	if err == nil && foreign {
		err = fmt.Errorf("%s is for another cluster and would be overwritten: move it away", c.kubeconfig())
	}
	return err
}

// writeKubeconfig copies the administrator's credentials that kubeadm created, readable
// only by their owner.
func (c *Cluster) writeKubeconfig(n node.Node) error {
	if err := c.keepForeignKubeconfig(); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(n.Root(), "etc", "kubernetes", "admin.conf"))
	if err != nil {
		return err
	}
	partial, err := os.CreateTemp(c.checkout, ".kubeconfig-")
	if err != nil {
		return err
	}
	_, err = partial.Write(data)
	if err = errors.Join(err, partial.Close()); err == nil {
		err = os.Rename(partial.Name(), c.kubeconfig())
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial.Name()))
	}
	return nil
}

// removeKubeconfig removes the file if it is for this cluster. The user may have
// replaced it.
func (c *Cluster) removeKubeconfig() error {
	foreign, err := c.hasForeignKubeconfig()
	if err != nil {
		return err
	}
	if foreign {
		c.report.Note("%s is for another cluster and stays.", c.kubeconfig())
		return nil
	}
	if err := os.Remove(c.kubeconfig()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
