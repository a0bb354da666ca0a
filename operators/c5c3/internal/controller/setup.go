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

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/probe"
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

// DefaultKORCNamespace is where K-ORC's own manifests put it.
const DefaultKORCNamespace = "orc-system"

// Options are what tests replace, and what the operator's own flags set; the zero
// value is the default.
type Options struct {
	// DiscoveryInterval is how often optional kinds are looked for; zero means
	// the default.
	DiscoveryInterval time.Duration
	// KORCNamespace is where K-ORC runs; empty means [DefaultKORCNamespace].
	KORCNamespace string
	// Login proves application credentials; nil means HTTP.
	Login identity.Login
	// Revoke makes sure of their revocation; nil means HTTP.
	Revoke identity.Revoke
	// Enrol gives the users of services their role; nil means HTTP.
	Enrol identity.Enrol
	// DeleteUser deletes them; nil means HTTP.
	DeleteUser identity.Revoke
	// SetRegion puts the endpoints of the catalog into the region; nil means HTTP.
	SetRegion identity.SetRegion
	// Now is the clock of rotations and of waits; nil means time.Now.
	Now func() time.Time
	// Ahead is how far ahead of Now the clock of a namespace is, so that time can
	// pass for one control plane and not for those beside it; nil means nowhere.
	Ahead func(namespace string) time.Duration
	// Day is how long a day of a CredentialRotation lasts; zero means 24 hours.
	Day time.Duration
	// StallTimeout bounds the waits for K-ORC; zero means the default.
	StallTimeout time.Duration
	// SpreadTime is how long a replaced credential works on at least; zero means
	// until the kubelets have brought its successor to all pods.
	SpreadTime time.Duration
	// RetryPeriod is how soon something that K-ORC has given up is made anew;
	// zero means the default.
	RetryPeriod time.Duration
}

// Scheme knows every type the controller reads or writes.
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
func Setup(ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options) error {
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
		SetRegion:  options.SetRegion,
		Background: probe.NewBackground(),

		StallTimeout: cmp.Or(options.StallTimeout, pass.DefaultStallTimeout),
		RetryPeriod:  cmp.Or(options.RetryPeriod, pass.DefaultRetryPeriod),
		SpreadTime:   cmp.Or(options.SpreadTime, cfg.Propagation()),

		ServiceClients: services.NamespacesOf(cfg.OperatorNamespace, cmp.Or(options.KORCNamespace, DefaultKORCNamespace)),
	}
	askOverHTTP(tools)
	if err := mgr.Add(tools.Background); err != nil {
		return fmt.Errorf("adding what asks Keystone in the background: %w", err)
	}
	tools.Revocations = identity.NewRevocations(tools.Background)
	pause := min(identity.LoginPeriod, tools.RetryPeriod)
	tools.Proofs = identity.NewProofs(options.Login, tools.Background, tools.Now, identity.ProofPeriod, pause)
	if err := secretaggregate.Setup(mgr, cfg, references, stepMetrics, services.All.Hold); err != nil {
		return err
	}
	err = watch(ctx, mgr, cfg, options.DiscoveryInterval, tools, &reconcile.Reconciler[*c5c3v1alpha1.ControlPlane, *pass.Pass]{
		Client:    mgr.GetClient(),
		Recorder:  mgr.GetEventRecorder(recorderName),
		Metrics:   stepMetrics,
		New:       func() *c5c3v1alpha1.ControlPlane { return &c5c3v1alpha1.ControlPlane{} },
		Guard:     guard,
		Preflight: refuseDuplicates(mgr.GetClient()),
		Scope:     func(cp *c5c3v1alpha1.ControlPlane) *pass.Pass { return pass.New(tools, cp) },
		Pipeline:  pipeline,

		Finalizers: finalizers,
		Summarise:  services.All.Summarise,
		Forget:     tools.Forget,
	})
	if err != nil {
		return err
	}
	return credentialrotation.Setup(mgr, cfg, credentialrotation.Tools{
		Client: tools.Client, Foreign: tools.Foreign, Refs: references, Kinds: tools.Kinds, Now: tools.Now,
		Day: cmp.Or(options.Day, 24*time.Hour),
	}, stepMetrics)
}

// askOverHTTP is how Keystone is asked where a test does not say otherwise.
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
	if t.SetRegion == nil {
		t.SetRegion = admin.SetRegion
	}
}
