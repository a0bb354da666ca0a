package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/c5c3/forge/hack/cluster/internal/images"
	"github.com/c5c3/forge/hack/cluster/internal/node"
)

// errDown is the error of commands that need a running cluster.
var errDown = errors.New("no cluster of this checkout is running: start it with \"make cluster-up\"")

// Status prints the state of the cluster. It returns an error that describes what
// is wrong with it.
func (c *Cluster) Status(ctx context.Context, out io.Writer) error {
	m, o, err := c.running()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "checkout:    %s\n", o.Checkout)
	fmt.Fprintf(out, "since:       %s\n", o.Since.Local().Format("2006-01-02 15:04:05"))
	fmt.Fprintf(out, "kubeconfig:  %s\n", c.kubeconfig())
	fmt.Fprintf(out, "node:        %s, %s, process %d\n", m.Node.Name, m.Node.Address(), m.Init.PID)
	fmt.Fprintf(out, "logs:        %s\n", m.Node.Log("*"))
	if err := c.check(ctx, m); err != nil {
		fmt.Fprintf(out, "health:      %v\n", err)
		return errors.New("the cluster is not healthy: \"make cluster-up\" repairs it")
	}
	fmt.Fprintln(out, "health:      everything is ready")
	return nil
}

// Load imports image archives into every node.
func (c *Cluster) Load(ctx context.Context, archives []string) error {
	_, o, err := c.running()
	if err != nil {
		return err
	}
	for _, m := range o.Members {
		err := c.report.Stage("Loading images into "+m.Node.Name, func() error {
			imported, err := images.Load(ctx, ctr(m.Init), archives)
			if err == nil {
				c.report.Note("%d of %d archives were new.", imported, len(archives))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Exec runs a command inside the first node.
func (c *Cluster) Exec(ctx context.Context, command []string) error {
	m, _, err := c.running()
	if err != nil {
		return err
	}
	cmd := node.Command(ctx, m.Init, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	return err
}

// running returns the first node of this checkout's cluster, or errDown if it does not
// run.
func (c *Cluster) running() (member, owner, error) {
	recorded, v, err := c.lookAround()
	if err != nil {
		return member{}, owner{}, err
	}
	if v != ours {
		return member{}, owner{}, errDown
	}
	return recorded.Members[0], *recorded, nil
}
