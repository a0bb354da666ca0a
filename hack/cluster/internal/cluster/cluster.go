// Package cluster brings a Kubernetes cluster up on this machine and removes
// it again.
package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/c5c3/forge/hack/cluster/internal/images"
	"github.com/c5c3/forge/hack/cluster/internal/manifests"
	"github.com/c5c3/forge/hack/cluster/internal/node"
	"github.com/c5c3/forge/hack/cluster/internal/progress"
)

// controlPlane is the name of the first node.
const controlPlane = "forge-control-plane"

// Cluster is the cluster of one checkout.
type Cluster struct {
	checkout string
	report   *progress.Reporter
}

// New returns the cluster of the checkout in the given folder.
func New(checkout string, report *progress.Reporter) (*Cluster, error) {
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return nil, err
	}
	checkout, err = filepath.EvalSymlinks(checkout)
	if err != nil {
		return nil, err
	}
	return &Cluster{checkout: checkout, report: report}, nil
}

func (c *Cluster) cache() string      { return filepath.Join(c.checkout, ".cache") }
func (c *Cluster) tools() string      { return filepath.Join(c.cache(), "bin") }
func (c *Cluster) dir() string        { return filepath.Join(c.cache(), "cluster") }
func (c *Cluster) kubeconfig() string { return filepath.Join(c.checkout, "kubeconfig") }
func (c *Cluster) stateFile() string  { return filepath.Join(c.dir(), "state.json") }

// operators returns the names of our operators: the folders that contain a program.
func (c *Cluster) operators() ([]string, error) {
	programs, err := filepath.Glob(filepath.Join(c.checkout, "operators", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(programs))
	for _, program := range programs {
		names = append(names, filepath.Base(filepath.Dir(program)))
	}
	return names, nil
}

// builder returns the builder of the component images, whose archives outlive the
// cluster.
func (c *Cluster) builder() images.Builder {
	return images.Builder{
		Tools:  c.tools(),
		Rootfs: filepath.Join(c.cache(), "images", "rootfs"),
		Out:    filepath.Join(c.cache(), "images", "cluster"),
	}
}

// firstNode returns the control plane node, the only one so far.
func (c *Cluster) firstNode() node.Node {
	return node.New(0, controlPlane, c.dir(), c.tools(), c.checkout)
}

// state records in a cluster's folder how far it was built.
type state struct {
	// Initialised is set once kubeadm has completed. An earlier state is not kept.
	Initialised bool `json:"initialised"`
	// Fingerprint identifies the versions and settings that it was built from.
	Fingerprint string `json:"fingerprint"`
}

// readState reads the recorded state. If the file is missing or damaged, the
// cluster is built from scratch.
func (c *Cluster) readState() (state, error) {
	var s state
	data, err := os.ReadFile(c.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if json.Unmarshal(data, &s) != nil {
		return state{}, nil // half written by a crash: start again
	}
	return s, nil
}

// plan is the input of a run of Up.
type plan struct {
	node   node.Node
	set    images.Set
	files  map[string]string
	addOns string
}

// newPlan derives everything from the checkout: the node, the versions and the node's
// files.
func (c *Cluster) newPlan() (plan, error) {
	p := plan{node: c.firstNode()}
	var err error
	if p.set, err = images.NewSet(c.tools()); err != nil {
		return p, err
	}
	operators, err := c.operators()
	if err != nil {
		return p, err
	}
	if p.files, err = manifests.NodeFiles(p.node, p.set, operators); err != nil {
		return p, err
	}
	p.addOns, err = manifests.AddOns(p.node, p.set)
	return p, err
}

// fingerprint changes with every version and setting of the cluster.
func (p plan) fingerprint() (string, error) {
	data, err := json.Marshal([]any{p.files, p.addOns}) // map keys come sorted
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// kubectl returns a command against this cluster. Its cache stays
// in the cluster's folder.
func (c *Cluster) kubectl(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{
		"--kubeconfig", c.kubeconfig(),
		"--cache-dir", filepath.Join(c.dir(), "kubectl"),
		"--request-timeout", "10s",
	}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(c.tools(), "kubectl"), all...)
	// The API server is on this machine, so it is reached without a proxy.
	cmd.Env = append(os.Environ(), "NO_PROXY=*", "no_proxy=*")
	return cmd
}

// ctr returns a runner of containerd's client in a node.
func ctr(init node.Process) images.Runner {
	return func(ctx context.Context, args ...string) *exec.Cmd {
		return node.Command(ctx, init, node.Tool("ctr"), append([]string{"--namespace", "k8s.io"}, args...)...)
	}
}

// waitFor calls check until it returns nil and then returns nil too, or, after the
// timeout, its last error.
func waitFor(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		// The check itself must not hang past the limit, and an error caused by
		// cancelling it is not reported.
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s: %w", limit, last)
		case <-ticker.C:
		}
	}
}
