package operator

import (
	"context"
	"flag"
	"io/fs"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator/startup"
)

// managedByLabel marks what an operator has created.
const managedByLabel = "app.kubernetes.io/managed-by"

// Options define how an operator differs from others.
type Options struct {
	// Name is the operator's name, for example placement-operator, and the value
	// of the label app.kubernetes.io/managed-by on everything it creates.
	Name string
	// LeaderElectionID names the Lease that replicas compete for. In
	// namespace-scoped mode the namespace is appended.
	LeaderElectionID string
	// Scheme knows every type the operator reads or writes.
	Scheme *runtime.Scheme
	// CacheTransform removes everything that the operator never reads from objects
	// before they are cached. It must keep the managed fields of the operator's own
	// field manager on objects that the operator applies. It may be nil.
	CacheTransform cache.TransformFunc
	// Definitions are the operator's own CustomResourceDefinitions, as YAML files,
	// for [ApplyDefinitions]. They may be nil.
	Definitions fs.FS
	// Flags adds the flags specific to this operator. It may be nil.
	Flags func(fs *flag.FlagSet)
	// Setup registers controllers, field indexes and health checks.
	Setup func(ctx context.Context, mgr ctrl.Manager, cfg startup.Config) error
	// Webhooks registers admission webhooks. It is called only when webhooks
	// are enabled and may be nil.
	Webhooks func(mgr ctrl.Manager, cfg startup.Config) error

	// SkipNameValidation lets a test run several replicas in one process, as the
	// option of the same name does in controller-runtime.
	SkipNameValidation bool
}
