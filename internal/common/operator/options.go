package operator

import (
	"cmp"
	"context"
	"flag"
	"io/fs"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/cluster"
)

// managedByLabel marks what an operator has created.
const managedByLabel = "app.kubernetes.io/managed-by"

// Options define how an operator differs from others.
type Options struct {
	// Name is the operator's name, for example keystone-operator, and the value
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
	Setup func(ctx context.Context, mgr ctrl.Manager, cfg Config) error
	// Webhooks registers admission webhooks. It is called only when webhooks
	// are enabled and may be nil.
	Webhooks func(mgr ctrl.Manager, cfg Config) error

	// SkipNameValidation lets a test run several replicas in one process, as the
	// option of the same name does in controller-runtime.
	SkipNameValidation bool
}

// Config describes to a Setup function how the operator was started.
type Config struct {
	// Namespace is the only namespace that the operator watches; empty means all.
	Namespace string
	// OperatorNamespace is where the operator itself runs; empty means outside
	// a cluster.
	OperatorNamespace string
	// MaxConcurrentReconciles is how many objects of a kind are reconciled at
	// the same time.
	MaxConcurrentReconciles int
	// EnableWebhooks reports whether admission webhooks guard the API.
	EnableWebhooks bool
	// SyncPeriod is how often every object is reconciled without a change, with
	// 10 % jitter.
	SyncPeriod time.Duration
	// Cluster describes the cluster, as configured by flags.
	Cluster cluster.Settings
	// KubeletSyncPeriod is the syncFrequency of the cluster's kubelets; zero means
	// [DefaultKubeletSyncPeriod].
	KubeletSyncPeriod time.Duration
}

// DefaultKubeletSyncPeriod is the default of syncFrequency in the
// KubeletConfiguration.
const DefaultKubeletSyncPeriod = time.Minute

// Propagation returns the maximum time until a changed Secret has reached all pods
// that mount it: the kubelet's sync period, half as much more in case it is busy,
// and half a minute for clock skew.
func (c Config) Propagation() time.Duration {
	return cmp.Or(c.KubeletSyncPeriod, DefaultKubeletSyncPeriod)*3/2 + 30*time.Second
}
