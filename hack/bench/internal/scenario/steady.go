package scenario

import (
	"context"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/internal/common/secrets"
)

// start starts the operator with nothing to do.
func (r *Run) start(ctx context.Context) error { return r.startOperator(ctx, "start", 1, "") }

// startOperator measures the start of the operator until it is
// idle.
func (r *Run) startOperator(ctx context.Context, scenario string, each int, server string) error {
	if err := r.world.Audit.Read(); err != nil {
		return err
	}
	before := reading{counts: r.world.Audit.Counts()}
	var err error
	if before.apiServer, before.etcd, err = r.world.Usage(); err != nil {
		return err
	}
	begun := time.Now()
	if err := r.operator.start(ctx, server); err != nil {
		return err
	}
	last, err := r.quiet(ctx)
	if err != nil {
		return err
	}
	return r.record(ctx, scenario, each, before, last.at.Sub(begun)-quietPeriod)
}

// create creates all resources and waits until they are ready.
func (r *Run) create(ctx context.Context) error {
	if err := r.world.Prepare(ctx, r.keys); err != nil {
		return err
	}
	return r.measure(ctx, "create", r.size, func(ctx context.Context) error { return r.createReady(ctx, r.keys) })
}

func (r *Run) createReady(ctx context.Context, keys []client.ObjectKey) error {
	err := objects.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		return r.createOne(ctx, keys[i])
	})
	if err != nil {
		return err
	}
	return r.await(ctx, keys, ready)
}

// createOne creates a resource, and what is beside it.
func (r *Run) createOne(ctx context.Context, key client.ObjectKey) error {
	all := []client.Object{r.options.Operator.New(key)}
	if r.options.Operator.Beside != nil {
		others, err := r.options.Operator.Beside(r.options.Root, key)
		if err != nil {
			return err
		}
		all = append(all, others...)
	}
	for _, obj := range all {
		if err := objects.Create(ctx, r.world.Client, obj); err != nil {
			return err
		}
	}
	return nil
}

// label sets a label on all resources, which does not concern the operator.
func (r *Run) label(ctx context.Context) error {
	return r.measure(ctx, "label", r.size, func(ctx context.Context) error {
		return r.world.Change(ctx, r.keys, func(resource operators.Resource) {
			labels := resource.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels["example.com/label"] = "value"
			resource.SetLabels(labels)
		})
	})
}

// changed is how many resources get a changed spec.
const changed = 100

// replicas gives some resources an additional replica.
func (r *Run) replicas(ctx context.Context) error {
	some := r.keys[:min(changed, r.size)]
	return r.measure(ctx, "replicas", len(some), func(ctx context.Context) error {
		if err := r.world.Change(ctx, some, r.options.Operator.Grow); err != nil {
			return err
		}
		return r.await(ctx, some, ready)
	})
}

// shared makes an irrelevant change to the one object that all resources
// use.
func (r *Run) shared(ctx context.Context) error {
	return r.measure(ctx, "shared", r.size, func(ctx context.Context) error {
		return r.world.Touch(ctx, &esov1.ClusterSecretStore{ObjectMeta: metav1.ObjectMeta{Name: secrets.StoreName}})
	})
}

// restart stops the operator and starts it again.
func (r *Run) restart(ctx context.Context) error { return r.restartAs(ctx, "restart") }

func (r *Run) restartAs(ctx context.Context, scenario string) error {
	if _, err := r.quiet(ctx); err != nil {
		return err
	}
	if err := r.operator.process.Stop(); err != nil {
		return err
	}
	// The resources of earlier scenarios are still there.
	if err := r.startOperator(ctx, scenario, r.world.Resources.Len(), ""); err != nil {
		return err
	}
	return r.checkWatches()
}

// pods gives each resource the Pods and Jobs that it has in a real cluster.
func (r *Run) pods(ctx context.Context) error {
	return r.measure(ctx, "pods", r.size, func(ctx context.Context) error {
		return r.options.Operator.Populate(ctx, r.world.Client, r.keys, r.options.Pods)
	})
}

// foreign creates objects that are unrelated to any resource.
func (r *Run) foreign(ctx context.Context) error {
	return r.measure(ctx, "foreign", r.size, func(ctx context.Context) error {
		return r.world.CreateForeign(ctx, r.options.Foreign)
	})
}

// restartFull restarts the operator with everything that exists at the end.
func (r *Run) restartFull(ctx context.Context) error { return r.restartAs(ctx, "restart-full") }

// checkWatches reports duplicate informers, which hold everything twice.
func (r *Run) checkWatches() error {
	if err := r.world.Audit.Read(); err != nil {
		return err
	}
	for what, open := range r.world.Audit.Watches() {
		if most := max(1, r.options.Operator.Operators); open > most {
			r.say("%d watches of %s are open, want %d", open, what, most)
		}
	}
	return nil
}
