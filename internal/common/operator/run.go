package operator

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Main runs the operator until it is stopped by SIGTERM or SIGINT, and
// then exits: 0 after a normal stop, 1 after a failure, 2 if the command line
// is invalid.
func Main(o Options) {
	tuneCollector()
	os.Exit(exitCode(Run(ctrl.SetupSignalHandler(), o, os.Args[1:], nil)))
}

var setKlogOnce sync.Once

// Run parses args and runs the operator until ctx ends or a part of it fails.
// It connects with restConfig or, if that is nil, the way kubectl does: by
// --kubeconfig, $KUBECONFIG, the pod's service account or ~/.kube/config.
//
// With [ApplyDefinitions] as its argument it applies the definitions instead.
//
// Leadership is released before Run returns, so the process must not continue to
// reconcile afterwards.
func Run(ctx context.Context, o Options, args []string, restConfig *rest.Config) error {
	if len(args) > 0 && args[0] == ApplyDefinitions {
		return applyDefinitions(ctx, o, args[1:], restConfig)
	}
	s, err := parse(args, o.Flags)
	if err != nil {
		return usageError{err}
	}
	if restConfig, err = begin(s, restConfig); err != nil {
		return err
	}
	mgr, err := newManager(ctx, o, s, restConfig)
	if err != nil {
		return err
	}
	announce(o.Name, s)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run %s: %w", o.Name, err)
	}
	return nil
}

// begin sets up what belongs to the process, and returns how to connect to the cluster.
func begin(s *settings, restConfig *rest.Config) (*rest.Config, error) {
	logger := zap.New(zap.UseFlagOptions(&s.zap))
	ctrl.SetLogger(logger)
	// klog's logger belongs to the process and must be set before anything logs.
	setKlogOnce.Do(func() { klog.SetLogger(logger) })
	metrics.RegisterRESTClientMetrics(metrics.MetricRequestLatency, metrics.MetricRequestRetry)
	return connection(restConfig)
}

// connection returns the given configuration or, if that is nil, the one that kubectl would use.
func connection(restConfig *rest.Config) (*rest.Config, error) {
	if restConfig != nil {
		return restConfig, nil
	}
	found, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	return found, nil
}

func announce(name string, s *settings) {
	ctrl.Log.Info("starting", "operator", name, "namespace", s.Namespace, "webhooks", s.EnableWebhooks,
		"memoryLimit", debug.SetMemoryLimit(-1))
}
