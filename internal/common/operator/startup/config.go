// Package startup holds the start-up settings that an operator passes to its controllers
// and webhooks. It is separate from package operator, so that a step or a test that only
// reads them does not link the server for authenticated metrics.
package startup

import (
	"cmp"
	"time"

	"github.com/c5c3/forge/internal/common/cluster"
)

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
	// AllowUnsupportedUpgrades lets upgrades skip any number of releases, for tests.
	AllowUnsupportedUpgrades bool
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
