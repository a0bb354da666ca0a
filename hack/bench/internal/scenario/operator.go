package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/c5c3/forge/hack/bench/internal/machine"
	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/world"
)

// The ports of the operator at [world.Address].
const (
	metricsPort = "18080"
	probePort   = "18081"
	pprofPort   = "16060"
)

// operator is the operator's program, which may be restarted.
type operator struct {
	options Options
	world   *world.World
	group   *machine.Group
	hosts   string
	process *machine.Process
	// runs counts its starts.
	runs int
}

// start runs the operator as its chart does, without webhooks and alone, and
// returns when it is ready. A server that is not empty stands in for the API server.
func (o *operator) start(ctx context.Context, server string) error {
	kubeconfig, err := o.world.Kubeconfig(server)
	if err != nil {
		return err
	}
	o.runs++
	log, err := os.Create(filepath.Join(o.options.Dir, fmt.Sprintf("operator-%d.log", o.runs)))
	if err != nil {
		return err
	}
	defer log.Close()
	o.process, err = machine.Start(machine.Spec{
		Command: append([]string{o.options.Program}, o.arguments(kubeconfig)...),
		Env:     append([]string{"POD_NAMESPACE=" + o.options.Operator.Namespace()}, o.options.OperatorEnv...),
		Hosts:   o.hosts,
		Group:   o.group,
		Output:  log,
	})
	if err != nil {
		return err
	}
	return objects.Poll(ctx, "wait for the operator", func(ctx context.Context) (bool, error) {
		_, err := get(ctx, "http://"+net.JoinHostPort(world.Address, probePort)+"/readyz")
		return err == nil, o.process.Alive()
	})
}

// arguments returns the operator's command line.
func (o *operator) arguments(kubeconfig string) []string {
	arguments := []string{
		"--kubeconfig=" + kubeconfig, "--enable-webhooks=false",
		fmt.Sprintf("--max-concurrent-reconciles=%d", o.options.Workers),
		"--metrics-bind-address=" + net.JoinHostPort(world.Address, metricsPort),
		"--health-probe-bind-address=" + net.JoinHostPort(world.Address, probePort),
	}
	if o.options.Profile {
		arguments = append(arguments, "--pprof-bind-address="+net.JoinHostPort(world.Address, pprofPort))
	}
	return slices.Concat(arguments, o.options.Operator.Flags, o.options.OperatorFlags)
}

// profile stores a heap profile of the operator.
func (o *operator) profile(ctx context.Context, name string) error {
	data, err := get(ctx, "http://"+net.JoinHostPort(world.Address, pprofPort)+"/debug/pprof/heap?gc=1")
	if err != nil {
		return fmt.Errorf("profile the operator: %w", err)
	}
	return os.WriteFile(filepath.Join(o.options.Dir, name+".pprof"), data, 0o644)
}

// passesMetric is the prefix of the series that count the passes of a controller, or of all.
func passesMetric(controller string) string {
	if controller == "" {
		return "controller_runtime_reconcile_total{"
	}
	return fmt.Sprintf("controller_runtime_reconcile_total{controller=%q,", controller)
}

// passes returns how many passes over its resources the operator has made since its start.
func (o *operator) passes(ctx context.Context) (int, error) {
	metrics, err := get(ctx, "http://"+net.JoinHostPort(world.Address, metricsPort)+"/metrics")
	if err != nil {
		return 0, fmt.Errorf("read the operator's metrics: %w", err)
	}
	return sum(string(metrics), passesMetric(o.options.Operator.Controller))
}

// sum adds up the series of a metric that have a prefix.
func sum(metrics, prefix string) (int, error) {
	total := 0
	for line := range strings.Lines(metrics) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 64)
		if err != nil {
			return 0, err
		}
		total += int(value)
	}
	return total, nil
}

// kill kills the operator if it runs.
func (o *operator) kill() error {
	if o.process == nil {
		return nil
	}
	return o.process.Kill()
}

// get fetches a page of the operator.
func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return data, err
}
