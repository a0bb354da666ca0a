// Package testutil runs the keystone operator in a test, with the caches and permissions
// that it has in production and an API server owned by the test.
package testutil

import (
	"cmp"
	"context"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	common "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// Operator is a running keystone operator.
type Operator struct {
	*running.Operator
	// API answers the operator's health probes.
	API *API
}

// Options are those of a running operator.
type Options struct {
	common.Options
	// SecretStoreTimeout bounds the waits for External Secrets during deletion; zero means the
	// default.
	SecretStoreTimeout time.Duration
}

// Program is the operator. adjust may override options.
func Program(adjust ...func(*Options)) running.Program {
	declared := controller.Controller
	return running.Program{
		Options: operator.Options{Name: "keystone-operator", Scheme: declared.Scheme(), CacheTransform: declared.Trim()},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings startup.Config, replaced common.Options) error {
			options := Options{Options: replaced}
			for _, change := range adjust {
				change(&options)
			}
			adjusted := declared
			adjusted.Own = func(in *common.Shared) (*pass.Toolbox, error) {
				own, err := declared.Own(in)
				if err == nil {
					own.SecretStoreTimeout = cmp.Or(options.SecretStoreTimeout, own.SecretStoreTimeout)
				}
				return own, err
			}
			return adjusted.SetupWith(ctx, mgr, settings, options.Options)
		},
	}
}

// Start runs an operator for one namespace, or for all if namespace is empty, until the
// test ends. Its log is shown if the test fails. adjust may override options.
func Start(t testing.TB, cfg *rest.Config, namespace string, adjust ...func(*Options)) *Operator {
	t.Helper()
	api := NewAPI(&running.API{})
	return &Operator{Operator: running.Start(t, Program(adjust...), cfg, namespace, common.Options{Probe: api}), API: api}
}

// Run runs an operator for one namespace, or for all if namespace is empty,
// until ctx ends.
func Run(ctx context.Context, cfg *rest.Config, namespace string) error {
	return Program().Run(ctx, cfg, namespace, common.Options{Probe: NewAPI(&running.API{})})
}
