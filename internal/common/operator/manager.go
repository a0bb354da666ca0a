package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Leader election timing. A leader survives an API server that does not answer
// for 20 s, as happens under load; after a crash another replica takes
// over within 30 s, after a normal stop within the retry period.
const (
	leaseDuration = 30 * time.Second
	renewDeadline = 15 * time.Second
	retryPeriod   = 2 * time.Second
)

const (
	// shutdownTimeout leaves the rest of a pod's usual 30 s for releasing the
	// lease and flushing logs.
	shutdownTimeout = 20 * time.Second
	// reconcileTimeout ends a pass that hangs, so that it is retried instead of
	// occupying a worker forever.
	reconcileTimeout = 2 * time.Minute
)

// newManager builds the manager of an operator that is a program of its own, with everything
// registered, ready to start.
func newManager(ctx context.Context, o Options, s *settings, restConfig *rest.Config) (ctrl.Manager, error) {
	serving := &servingCertificate{}
	mgr, caches, err := setUp(ctx, o, s, restConfig, managerOptions(o, s, serving))
	if err != nil {
		return nil, err
	}
	if s.EnableWebhooks && o.Webhooks != nil {
		if err := setupWebhooks(mgr, o, s, serving); err != nil {
			return nil, fmt.Errorf("set up the webhooks of %s: %w", o.Name, err)
		}
	}
	if err := addHealthChecks(mgr, caches); err != nil {
		return nil, fmt.Errorf("set up the health checks of %s: %w", o.Name, err)
	}
	return mgr, nil
}

// setUp builds a manager with the controllers of an operator, and returns the check of its caches.
func setUp(
	ctx context.Context, o Options, s *settings, restConfig *rest.Config, options ctrl.Options,
) (ctrl.Manager, *cacheCheck, error) {
	config := withoutRateLimit(restConfig)
	var events atomic.Pointer[ctrl.Manager]
	lock, err := newLock(config, options, &events)
	if err != nil {
		return nil, nil, fmt.Errorf("set up the leader election of %s: %w", o.Name, err)
	}
	options.LeaderElectionResourceLockInterface = lock
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, nil, fmt.Errorf("create the manager of %s: %w", o.Name, err)
	}
	events.Store(&mgr)
	if err := o.Setup(ctx, mgr, s.Config); err != nil {
		return nil, nil, fmt.Errorf("set up the controllers of %s: %w", o.Name, err)
	}
	caches := &cacheCheck{cache: mgr.GetCache()}
	if err := mgr.Add(caches); err != nil {
		return nil, nil, fmt.Errorf("set up the check of the caches of %s: %w", o.Name, err)
	}
	return mgr, caches, nil
}

func managerOptions(o Options, s *settings, serving *servingCertificate) ctrl.Options {
	options := ctrl.Options{
		Scheme:                  o.Scheme,
		Cache:                   cacheOptions(o, s),
		Client:                  clientOptions(),
		NewClient:               newClient,
		MapperProvider:          newMapper,
		Metrics:                 metricsOptions(s),
		HealthProbeBindAddress:  s.probeAddress,
		PprofBindAddress:        s.pprofAddress,
		GracefulShutdownTimeout: ptr.To(shutdownTimeout),
		WebhookServer: webhook.NewServer(webhook.Options{
			Port:    s.webhookPort,
			CertDir: s.webhookCertDir,
			TLSOpts: append(serving.tlsOptions(s), withoutHTTP2),
		}),
		Controller: config.Controller{
			MaxConcurrentReconciles: s.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			ReconciliationTimeout:   reconcileTimeout,
			SkipNameValidation:      ptr.To(o.SkipNameValidation),
		},

		LeaderElection:                s.leaderElect,
		LeaderElectionID:              leaderElectionID(o.LeaderElectionID, s.Namespace),
		LeaderElectionNamespace:       s.leaseNamespace(),
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration),
		RenewDeadline:                 ptr.To(renewDeadline),
		RetryPeriod:                   ptr.To(retryPeriod),
	}
	return options
}

// leaderElectionID gives a namespace-scoped operator its own Lease, so
// that it does not wait for a cluster-wide one in the same namespace to stop.
func leaderElectionID(id, namespace string) string {
	if namespace == "" {
		return id
	}
	return id + "-" + namespace
}

// clientOptions make reads wait until the cache has seen the operator's own
// earlier writes, so that no pass bases a decision on outdated data. Typed
// reads come from the cache; unstructured ones go to the API server, which is how
// the applier looks up an object that the label-limited caches do not contain.
func clientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}}
}

// notSucceeded excludes the Pods of Jobs that have succeeded: many of them exist
// for days, and nothing reads them. A Pod that succeeds is reported as deleted.
var notSucceeded = fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded))

// cacheOptions limits the cache to the watched namespaces and, of the kinds
// that every cluster holds many of, to the operator's own objects. What other
// projects own is cached without what the operator does not read.
func cacheOptions(o Options, s *settings) cache.Options {
	podKind := &corev1.Pod{}
	own := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{managedByLabel: o.Name})}
	pods := own
	pods.Field = notSucceeded
	options := cache.Options{
		SyncPeriod:       ptr.To(s.SyncPeriod),
		DefaultTransform: o.CacheTransform,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}:                         own,
			&corev1.ConfigMap{}:                      own,
			podKind:                                  pods,
			&corev1.Service{}:                        own,
			&appsv1.Deployment{}:                     own,
			&batchv1.Job{}:                           own,
			&batchv1.CronJob{}:                       own,
			&policyv1.PodDisruptionBudget{}:          own,
			&autoscalingv2.HorizontalPodAutoscaler{}: own,
			&networkingv1.NetworkPolicy{}:            own,
			&corev1.ServiceAccount{}:                 own,
			&rbacv1.Role{}:                           own,
			&rbacv1.RoleBinding{}:                    own,
		},
	}
	switch {
	case s.Namespace != "":
		options.DefaultNamespaces = map[string]cache.Config{s.Namespace: {}}
	case len(s.ignoredNamespaces) > 0:
		others := make([]fields.Selector, 0, len(s.ignoredNamespaces)+1)
		for _, namespace := range s.ignoredNamespaces {
			others = append(others, fields.OneTermNotEqualSelector("metadata.namespace", namespace))
		}
		options.DefaultNamespaces = map[string]cache.Config{cache.AllNamespaces: {FieldSelector: fields.AndSelectors(others...)}}
		// A selector of the namespaces takes precedence over that of a kind.
		pods.Namespaces = map[string]cache.Config{cache.AllNamespaces: {FieldSelector: fields.AndSelectors(append(others, notSucceeded)...)}}
		options.ByObject[podKind] = pods
	}
	return options
}

func metricsOptions(s *settings) metricsserver.Options {
	options := metricsserver.Options{
		BindAddress:   s.metricsAddress,
		SecureServing: s.metricsSecure,
		TLSOpts:       []func(*tls.Config){withoutHTTP2},
	}
	if s.metricsSecure {
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}

// withoutRateLimit removes the client-side rate limit, unless the
// caller has set one. client-go's own default of 5 a second would delay every
// larger wave of changes without any benefit.
func withoutRateLimit(restConfig *rest.Config) *rest.Config {
	if restConfig.QPS != 0 || restConfig.RateLimiter != nil {
		return restConfig
	}
	unlimited := rest.CopyConfig(restConfig)
	unlimited.QPS = -1
	return unlimited
}

func withoutHTTP2(c *tls.Config) {
	c.NextProtos = []string{"http/1.1"}
}
