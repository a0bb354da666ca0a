package apiservice

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/rollout"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/tls"
)

// tools are the dependencies of the steps.
type tools[T any] struct {
	*service.Tools
	// own are those that only this operator has.
	own T
}

func (c Controller[R, T]) tools(in *controller.Shared) (*tools[T], error) {
	made := &tools[T]{Tools: &service.Tools{
		Access:  in.Access,
		NewList: controller.Maker(c.List), Peers: in.Optional(cachedLists{in.Client, in.Manager.GetCache()}),
		Prober: probe.New(in.Options.Probe),
		Turns:  rollout.NewTurns(in.Options.Now),
		Jobs:   &job.Runner{Client: in.Client, Events: in.APIReader, Scheme: in.Scheme, Exits: job.NewExits()},

		OperatorNamespace: in.Config.OperatorNamespace, AllowUnsupportedUpgrades: in.Config.AllowUnsupportedUpgrades,
	}}
	if c.hasData() {
		if err := c.databaseMetrics(made.Tools); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	if c.Own == nil {
		return made, nil
	}
	own, err := c.Own(in)
	made.own = own
	return made, err
}

// databaseMetrics registers the metrics of services with a database.
func (c Controller[R, T]) databaseMetrics(t *service.Tools) (err error) {
	t.Certificates, err = tls.NewMetrics(ctrlmetrics.Registry, c.Metrics.CertificateStart(), c.Metrics.CertificateExpiration())
	if err != nil {
		return err
	}
	t.SchemaJobs, err = job.NewMetrics(ctrlmetrics.Registry, c.Metrics.SchemaJobs(), c.Metrics.SchemaJobDuration())
	return err
}

// background returns what works on resources outside of their passes.
func (c Controller[R, T]) background(t *tools[T]) []controller.Background {
	all := []controller.Background{t.Prober, t.Turns}
	if c.Background != nil {
		all = append(all, c.Background(t.own)...)
	}
	return all
}

// forget drops in-memory state about a deleted resource.
func (c Controller[R, T]) forget(t *tools[T], name types.NamespacedName) {
	t.SchemaJobs.Forget(name)
	t.Certificates.Forget(name)
	if c.Forget != nil {
		c.Forget(t.own, name)
	}
}

// cachedLists lists from the cache what the client would ask the API server for: objects
// without a Go type.
type cachedLists struct {
	client.Client
	cache client.Reader
}

// List implements [client.Reader].
func (c cachedLists) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.cache.List(ctx, list, options...)
}
