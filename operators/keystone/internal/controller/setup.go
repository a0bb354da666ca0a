package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/tls"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

const (
	controllerName = "keystone"
	recorderName   = "keystone-controller"
)

// Options are what tests replace; the zero value is what the operator runs
// with.
type Options struct {
	// Probe sends the health checks and the logins; nil means HTTP.
	Probe probe.Doer
	// DiscoveryInterval is how often optional kinds are looked for; zero means
	// the default.
	DiscoveryInterval time.Duration
	// Now is the clock of key rotations; nil means time.Now.
	Now func() time.Time
	// SecretStoreTimeout bounds the waits for External Secrets during deletion;
	// zero means the default.
	SecretStoreTimeout time.Duration
	// Around may stand between the controller and its passes; nil means that
	// nothing does.
	Around func(ctrl.Manager, ctrlreconcile.Reconciler) ctrlreconcile.Reconciler
}

// Scheme knows every type the controller reads or writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, keystonev1alpha1.AddToScheme, mariadbv1alpha1.AddToScheme,
		esov1.AddToScheme, esov1alpha1.AddToScheme, certmanagerv1.AddToScheme, gatewayv1.Install,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// Setup registers the controller with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, cfg operator.Config) error {
	return SetupWith(ctx, mgr, cfg, Options{})
}

// SetupWith is Setup with replaceable parts.
func SetupWith(ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options) error {
	if err := pipeline.Validate(); err != nil {
		return fmt.Errorf("the keystone pipeline: %w", err)
	}
	references, err := refs.New(mgr, cfg.Namespace)
	if err != nil {
		return err
	}
	stepMetrics, err := reconcile.NewMetrics(ctrlmetrics.Registry, metrics.Prefix)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	lifetimes, err := newLifetimes(ctrlmetrics.Registry)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	err = reconcile.ExportResources(mgr, metrics.Prefix, "Keystone",
		func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} }, releaseInfo)
	if err != nil {
		return err
	}
	tools, err := newTools(mgr, cfg, options, references)
	if err != nil {
		return err
	}
	own := &toolbox{
		proofs: proof.NewProver(options.Probe), lifetimes: lifetimes,
		secretStoreTimeout: cmp.Or(options.SecretStoreTimeout, defaultSecretStoreTimeout), propagation: cfg.Propagation(),
	}
	if err := mgr.Add(tools.Prober); err != nil {
		return fmt.Errorf("adding the health prober: %w", err)
	}
	if err := mgr.Add(own.proofs); err != nil {
		return fmt.Errorf("adding the prover of logins: %w", err)
	}
	var reconciler ctrlreconcile.Reconciler = &reconcile.Reconciler[*keystonev1alpha1.Keystone, *scope]{
		Client:     mgr.GetClient(),
		Recorder:   mgr.GetEventRecorder(recorderName),
		Metrics:    stepMetrics,
		New:        func() *keystonev1alpha1.Keystone { return &keystonev1alpha1.Keystone{} },
		Guard:      guard,
		Preflight:  refuseSharers(mgr.GetClient(), cfg.Cluster),
		Scope:      func(k *keystonev1alpha1.Keystone) *scope { return newScope(tools, own, k) },
		Repeats:    repeats,
		Pipeline:   pipeline,
		Finalizers: finalizers,
		Forget:     forget(tools, own),
	}
	if options.Around != nil {
		reconciler = options.Around(mgr, reconciler)
	}
	return watch(ctx, mgr, cfg, options, tools, references, own.proofs.Source(), reconciler)
}

// newTools returns what the steps of every service work with.
func newTools(mgr ctrl.Manager, cfg operator.Config, options Options, references *refs.Reader) (*service.Tools, error) {
	certificates, err := tls.NewMetrics(ctrlmetrics.Registry, metrics.DatabaseCertificateStart, metrics.DatabaseCertificateExpiration)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	schemaJobs, err := job.NewMetrics(ctrlmetrics.Registry, metrics.DBSyncs, metrics.DBSyncDuration)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return &service.Tools{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Refs: references,
		Owned:      secrets.Owned{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme()},
		Prober:     probe.New(options.Probe),
		Jobs:       &job.Runner{Client: mgr.GetClient(), Events: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Exits: job.NewExits()},
		SchemaJobs: schemaJobs, Certificates: certificates, Cluster: cfg.Cluster, OperatorNamespace: cfg.OperatorNamespace, Clock: options.Now,
	}, nil
}

// repeats reports whether the statuses differ only in what becomes known once on
// the way to Ready. The endpoint is that of API pods which are ready. Until the first
// release is written, the Jobs tell that they were done with this image, and the
// Deployment tells the release when another one is wanted.
func repeats(before, now any) bool {
	then, known := before.(keystonev1alpha1.KeystoneStatus)
	status, ok := now.(keystonev1alpha1.KeystoneStatus)
	if !known || !ok {
		return false
	}
	if then.Endpoint == "" {
		status.Endpoint = ""
	}
	if then.InstalledRelease == "" {
		status.InstalledRelease = ""
	}
	return equality.Semantic.DeepEqual(then, status)
}

// forget drops what is kept in memory of a Keystone that is gone.
func forget(tools *service.Tools, own *toolbox) func(types.NamespacedName) {
	return func(name types.NamespacedName) {
		tools.Prober.Forget(name)
		own.proofs.Forget(name)
		own.lifetimes.forget(name)
		tools.SchemaJobs.Forget(name)
		tools.Certificates.Forget(name)
	}
}
