package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/c5c3/forge/hack/cluster/internal/images"
	"github.com/c5c3/forge/hack/cluster/internal/manifests"
	"github.com/c5c3/forge/hack/cluster/internal/node"
	"github.com/c5c3/forge/hack/cluster/internal/preflight"
	"github.com/c5c3/forge/hack/cluster/internal/progress"
)

const (
	runtimeTimeout = time.Minute
	kubeadmTimeout = 5 * time.Minute
	// resumeTimeout bounds how long a stopped cluster may take to come
	// back before it is rebuilt, which takes about as long.
	resumeTimeout = 2 * time.Minute
	readyTimeout  = 5 * time.Minute
)

// Preflight reports whether this machine can run the cluster. It changes
// nothing.
func (c *Cluster) Preflight(ctx context.Context) error {
	if _, v, err := c.lookAround(); err != nil || v == ours {
		return err
	}
	if err := c.keepForeignKubeconfig(); err != nil {
		return err
	}
	return preflight.Check(ctx, c.cache())
}

// Up creates or repairs the cluster, or finds that there is
// nothing to do.
func (c *Cluster) Up(ctx context.Context) error {
	if err := c.Preflight(ctx); err != nil {
		return err
	}
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()

	recorded, v, err := c.lookAround()
	if err != nil {
		return err
	}
	p, err := c.newPlan()
	if err != nil {
		return err
	}
	built, err := c.readState()
	if err != nil {
		return err
	}
	if v == ours && built.Initialised && c.check(ctx, recorded.Members[0]) == nil {
		c.report.Note("The cluster is up already.")
		return c.sayHow(p, built)
	}
	if err := c.makeReady(ctx, p, recorded, v, built); err != nil {
		return err
	}
	if built, err = c.readState(); err != nil {
		return err
	}
	c.report.Note("The cluster is up.")
	return c.sayHow(p, built)
}

// makeReady repairs the existing cluster, and rebuilds it if that fails.
func (c *Cluster) makeReady(ctx context.Context, p plan, recorded *owner, v verdict, built state) error {
	if err := c.prepareMachine(ctx, p, v); err != nil {
		return err
	}
	if v != ours {
		recorded = nil
	}
	if built.Initialised {
		c.report.Note("Bringing the existing cluster back.")
		err := c.build(ctx, p, recorded, built)
		if err == nil || ctx.Err() != nil {
			return err
		}
		c.report.Note("It does not come back (%v), so it is rebuilt.", err)
	}
	if err := c.erase(ctx); err != nil {
		return err
	}
	return c.build(ctx, p, nil, state{})
}

// prepareMachine runs the stages that do not depend on the state of the cluster.
func (c *Cluster) prepareMachine(ctx context.Context, p plan, v verdict) error {
	if v == remains {
		if err := c.report.Stage("Clearing away the remains of a dead cluster", func() error {
			return clearMachine(ctx)
		}); err != nil {
			return err
		}
	}
	if missing := preflight.MissingPackages(); len(missing) > 0 {
		if err := c.report.Stage("Installing Debian packages", func() error {
			return c.installPackages(ctx, missing)
		}); err != nil {
			return err
		}
	}
	return c.report.Stage("Making the components' images", func() error {
		_, err := c.builder().Build(ctx, p.set)
		return err
	})
}

// installPackages installs the missing Debian packages and checks that their programs now
// exist.
func (c *Cluster) installPackages(ctx context.Context, missing []string) error {
	script := filepath.Join(c.checkout, "hack", "tools", "install-debian-packages.sh")
	logFile := filepath.Join(c.cache(), "debian-packages.log")
	if err := runLogged(exec.CommandContext(ctx, script, "cluster"), logFile); err != nil {
		return fmt.Errorf("%s (packages %s): %w", script, strings.Join(missing, ", "), err)
	}
	if still := preflight.MissingPackages(); len(still) > 0 {
		return fmt.Errorf("programs of the packages %s are still missing: install them by hand", strings.Join(still, ", "))
	}
	return nil
}

// build goes through all stages from a stopped or running node to a cluster
// that serves. recorded is nil unless the node runs.
func (c *Cluster) build(ctx context.Context, p plan, recorded *owner, built state) error {
	m, err := c.runNode(ctx, p, recorded)
	if err != nil {
		return err
	}
	if err := c.loadImages(ctx, m); err != nil {
		return progress.WithLog(err, p.node.Log("containerd"))
	}
	limit := resumeTimeout
	if !built.Initialised {
		limit = readyTimeout
		if err := c.initialise(ctx, p, m); err != nil {
			return err
		}
	}
	if err := c.writeKubeconfig(p.node); err != nil {
		return err
	}
	return progress.WithLog(c.completeNode(ctx, p, m, limit), p.node.Log("kubelet"))
}

func (c *Cluster) loadImages(ctx context.Context, m member) error {
	return c.report.Stage("Loading the components' images", func() error {
		_, err := images.Load(ctx, ctr(m.Init), c.builder().Archives())
		return err
	})
}

// completeNode goes through the stages that a node needs which has Kubernetes already, each
// with the limit.
func (c *Cluster) completeNode(ctx context.Context, p plan, m member, limit time.Duration) error {
	for _, stage := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"Waiting for the network of Services", func(ctx context.Context) error { return c.checkServices(ctx, m) }},
		{"Installing DNS and storage", func(ctx context.Context) error { return c.apply(ctx, p.addOns) }},
		{"Waiting until everything is ready", func(ctx context.Context) error { return c.check(ctx, m) }},
	} {
		if err := c.report.Stage(stage.name, func() error { return waitFor(ctx, limit, stage.do) }); err != nil {
			return err
		}
	}
	return nil
}

// runNode starts the node unless it runs.
func (c *Cluster) runNode(ctx context.Context, p plan, recorded *owner) (member, error) {
	if recorded == nil {
		return c.startNode(ctx, p)
	}
	m := recorded.Members[0]
	err := c.report.Stage("Checking node "+p.node.Name, func() error {
		if err := m.Node.Connect(ctx, m.Init); err != nil {
			return err
		}
		return waitFor(ctx, runtimeTimeout, func(ctx context.Context) error { return checkContainerd(ctx, m) })
	})
	return m, progress.WithLog(err, p.node.Log("containerd"))
}

// startNode starts the node and records it.
func (c *Cluster) startNode(ctx context.Context, p plan) (member, error) {
	m := member{Node: p.node, Started: time.Now().UTC()}
	err := c.report.Stage("Starting node "+p.node.Name, func() error {
		// The record is written first, without a process, so that a machine on which
		// anything was created always has one.
		o := owner{Checkout: c.checkout, Since: m.Started}
		if err := o.write(); err != nil {
			return err
		}
		var err error
		if m.Init, err = p.node.Start(ctx, p.files); err != nil {
			return progress.WithLog(err, p.node.Log("init"))
		}
		o.Members = []member{m}
		if err := o.write(); err != nil {
			return errors.Join(err, m.Init.Kill())
		}
		err = waitFor(ctx, runtimeTimeout, func(ctx context.Context) error { return checkContainerd(ctx, m) })
		return progress.WithLog(err, p.node.Log("containerd"))
	})
	return m, err
}

// initialise runs kubeadm init on the started node.
func (c *Cluster) initialise(ctx context.Context, p plan, m member) error {
	fingerprint, err := p.fingerprint()
	if err != nil {
		return err
	}
	return c.report.Stage("Initialising Kubernetes "+p.set.Tag("kube-apiserver"), func() error {
		ctx, cancel := context.WithTimeout(ctx, kubeadmTimeout)
		defer cancel()
		cmd := node.Command(ctx, m.Init, node.Tool("kubeadm"), "init",
			"--config", manifests.KubeadmConfig,
			// Its checks know neither this kind of node nor version 1 control groups,
			// and our own checks have passed.
			"--ignore-preflight-errors", "all")
		if err := runLogged(cmd, p.node.Log("kubeadm")); err != nil {
			return fmt.Errorf("kubeadm init: %w", err)
		}
		return writeJSON(c.stateFile(), state{Initialised: true, Fingerprint: fingerprint})
	})
}

// apply applies a manifest with kubectl, taking over fields of other managers: the
// manifests of this checkout define the cluster.
func (c *Cluster) apply(ctx context.Context, manifest string) error {
	cmd := c.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--filename", "-")
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// runLogged runs a command with its output in a separate log file.
func runLogged(cmd *exec.Cmd, path string) error {
	logFile, err := os.Create(path)
	if err != nil {
		return err
	}
	defer logFile.Close()
	cmd.Stdout, cmd.Stderr = logFile, logFile
	return progress.WithLog(cmd.Run(), path)
}

// sayHow prints how to use the cluster, and warns if it was built from other versions or
// settings.
func (c *Cluster) sayHow(p plan, built state) error {
	fingerprint, err := p.fingerprint()
	if err != nil {
		return err
	}
	if built.Fingerprint != fingerprint {
		c.report.Note("It was built from other versions or settings than this checkout has now; \"make cluster-down cluster-up\" renews it.")
	}
	c.report.Note("Use it with:\n\n  export KUBECONFIG=%s\n  %s get pods --all-namespaces\n\nNodePorts are served on %s.",
		c.kubeconfig(), filepath.Join(c.tools(), "kubectl"), p.node.Address())
	return nil
}
