package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/credentialrotation"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/metrics"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/secretaggregate"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

const recorderName = "controlplane-controller"

// DefaultKORCNamespace is the namespace in K-ORC's own manifests.
const DefaultKORCNamespace = "orc-system"

// Options are set by the operator's own flags and overridden by tests; the zero value is
// the default.
type Options struct {
	// DiscoveryInterval is the interval between checks for optional kinds; zero means the
	// default.
	DiscoveryInterval time.Duration
	// KORCNamespace is where K-ORC runs; empty means [DefaultKORCNamespace].
	KORCNamespace string
	// Login verifies application credentials; nil means over HTTP.
	Login identity.Login
	// Revoke revokes them; nil means over HTTP.
	Revoke identity.Revoke
	// Enrol assigns the roles of service users; nil means over HTTP.
	Enrol identity.Enrol
	// DeleteUser deletes them; nil means HTTP.
	DeleteUser identity.Revoke
	// SetEndpoints corrects the endpoints of the catalog, and FindEndpoint finds one in its region; nil means HTTP.
	SetEndpoints identity.SetEndpoints
	FindEndpoint identity.FindEndpoint
	// FindEntries finds entries of the catalog, and RemoveEntry removes one; nil means HTTP.
	FindEntries identity.FindEntries
	RemoveEntry identity.RemoveEntry
	// Now is the clock of rotations and of waits; nil means time.Now.
	Now func() time.Time
	// Ahead returns how far the clock of a namespace is ahead of Now, so that time can
	// pass for a single control plane; nil means that none is.
	Ahead func(namespace string) time.Duration
	// Day is the length of a day in a CredentialRotation; zero means 24 hours.
	Day time.Duration
	// StallTimeout bounds the waits for K-ORC; zero means the default.
	StallTimeout time.Duration
	// SpreadTime is the minimum time that a replaced credential stays valid; zero means
	// until the kubelets have delivered its successor to all pods.
	SpreadTime time.Duration
	// RetryPeriod is the first delay before an object with a terminal error of K-ORC is
	// recreated; zero means the default.
	RetryPeriod time.Duration
}

// Scheme registers every type that the controller reads or writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, c5c3v1alpha1.AddToScheme, infraapi.AddToScheme, esov1.AddToScheme, esov1alpha1.AddToScheme,
		orcv1alpha1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	for _, svc := range services.All {
		utilruntime.Must(svc.AddToScheme(scheme))
	}
	return scheme
}

// Setup registers the controllers with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, cfg startup.Config, options Options) error {
	if err := pipeline.Validate(); err != nil {
		return fmt.Errorf("the control plane pipeline: %w", err)
	}
	references, err := refs.New(mgr, cfg.Namespace)
	if err != nil {
		return err
	}
	stepMetrics, err := reconcile.NewMetrics(ctrlmetrics.Registry, metrics.Prefix)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := exportResources(mgr); err != nil {
		return err
	}
	tools := &pass.Tools{
		Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Refs: references,
		Owned:   secrets.Owned{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme()},
		Cluster: cfg.Cluster, Clock: options.Now, Ahead: options.Ahead,
		RevokeCredential: options.Revoke, Enrol: options.Enrol, DeleteUser: options.DeleteUser,
		SetEndpoints: options.SetEndpoints, FindEndpoint: options.FindEndpoint,
		FindEntries: options.FindEntries, RemoveEntry: options.RemoveEntry,
		StallTimeout: cmp.Or(options.StallTimeout, pass.DefaultStallTimeout),
		RetryPeriod:  cmp.Or(options.RetryPeriod, pass.DefaultRetryPeriod),
		SpreadTime:   cmp.Or(options.SpreadTime, cfg.Propagation()),

		ServiceClients: services.NamespacesOf(cfg.OperatorNamespace, cmp.Or(options.KORCNamespace, DefaultKORCNamespace)),
	}
	askOverHTTP(tools)
	tools.Proofs = identity.NewProofs(options.Login, tools.Now, identity.ProofPeriod, min(identity.LoginPeriod, tools.RetryPeriod))
	if err := mgr.Add(tools.Proofs); err != nil {
		return fmt.Errorf("adding what asks Keystone in the background: %w", err)
	}
	if err := secretaggregate.Setup(mgr, cfg, references, stepMetrics, services.All.Hold); err != nil {
		return err
	}
	err = watch(ctx, mgr, cfg, options.DiscoveryInterval, tools, &reconcile.Reconciler[*c5c3v1alpha1.ControlPlane, *pass.Pass]{
		Client:    mgr.GetClient(),
		Recorder:  mgr.GetEventRecorder(recorderName),
		Metrics:   stepMetrics,
		New:       func() *c5c3v1alpha1.ControlPlane { return &c5c3v1alpha1.ControlPlane{} },
		Guard:     guard,
		Outdated:  c5c3v1alpha1.Outdated,
		Preflight: refuseDuplicates(mgr.GetClient()),
		Scope:     func(cp *c5c3v1alpha1.ControlPlane) *pass.Pass { return pass.New(tools, cp) },
		Pipeline:  pipeline,

		Finalizers: finalizers,
		Summarise:  services.All.Summarise,
		Forget:     tools.Proofs.Forget,
	})
	if err != nil {
		return err
	}
	return credentialrotation.Setup(mgr, cfg, credentialrotation.Tools{
		Client: tools.Client, Foreign: tools.Foreign, Refs: references, Kinds: tools.Kinds, Now: tools.Now,
		Day: cmp.Or(options.Day, 24*time.Hour),
	}, stepMetrics)
}

// askOverHTTP sets HTTP for everything that a test does not override.
func askOverHTTP(t *pass.Tools) {
	admin := identity.NewAdministrator(t.Clock)
	if t.RevokeCredential == nil {
		t.RevokeCredential = admin.Revoke
	}
	if t.Enrol == nil {
		t.Enrol = admin.Enrol
	}
	if t.DeleteUser == nil {
		t.DeleteUser = admin.DeleteUser
	}
	if t.SetEndpoints == nil {
		t.SetEndpoints = admin.SetEndpoints
	}
	if t.FindEndpoint == nil {
		t.FindEndpoint = admin.FindEndpoint
	}
	if t.FindEntries == nil {
		t.FindEntries = admin.FindEntries
	}
	if t.RemoveEntry == nil {
		t.RemoveEntry = admin.RemoveEntry
	}
}
