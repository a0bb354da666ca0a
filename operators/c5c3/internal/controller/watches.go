package controller

import (
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/watches"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

const controllerName = "controlplane"

// Field indexes from the name of an object to the ControlPlanes that read it.
const (
	indexSecret    = "spec.secretRefs.name"
	indexMariaDB   = "spec.infrastructure.database.clusterRef.name"
	indexMemcached = "spec.infrastructure.cache.clusterRef.name"
)

var indexes = map[string]func(*c5c3v1alpha1.ControlPlane) []string{
	indexSecret: defaulted(func(cp *c5c3v1alpha1.ControlPlane) []string {
		return append(services.All.DatabaseSecrets(cp),
			cp.AdminSecretRef().Name, cp.PasswordCloudSecretName(), cp.ApplicationCredentialName(),
			cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)
	}),
	indexMariaDB: defaulted(func(cp *c5c3v1alpha1.ControlPlane) []string {
		if ref := cp.Spec.Infrastructure.Database.ClusterRef; ref != nil {
			return []string{ref.Name}
		}
		return nil
	}),
	indexMemcached: defaulted(func(cp *c5c3v1alpha1.ControlPlane) []string {
		if ref := cp.Spec.Infrastructure.Cache.ClusterRef; ref != nil {
			return []string{ref.Name}
		}
		return nil
	}),
}

// watch builds the controller. Everything that a pass reads is watched, so that waits end
// with an event instead of a timer.
func watch(
	ctx context.Context, mgr ctrl.Manager, cfg startup.Config, discovery time.Duration, tools *pass.Tools,
	reconciler ctrlreconcile.Reconciler,
) error {
	find := controlPlanes(mgr.GetClient())
	if err := find.Index(ctx, mgr.GetFieldIndexer(), &c5c3v1alpha1.ControlPlane{}, indexes); err != nil {
		return err
	}
	kinds := watches.NewResync()
	ctl, err := ctrl.NewControllerManagedBy(mgr).Named(controllerName).
		For(&c5c3v1alpha1.ControlPlane{}).
		// The cache of referenced Secrets may be ahead of the one from which the
		// operator's own Secrets are read, so those are watched as well.
		Owns(&corev1.Secret{}).Owns(&networkingv1.NetworkPolicy{}).
		// When the active ControlPlane is deleted, its duplicates are reconciled.
		Watches(&c5c3v1alpha1.ControlPlane{}, handler.EnqueueRequestsFromMapFunc(find.SameNamespace), builder.WithPredicates(deletions)).
		Watches(&c5c3v1alpha1.CredentialRotation{}, handler.EnqueueRequestsFromMapFunc(find.SameNamespace),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(tools.Refs.SecretSource(find.By(indexSecret))).
		WatchesRawSource(kinds.Source(find.All)).
		WatchesRawSource(tools.Proofs.Source()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		}).
		Build(reconciler)
	if err != nil {
		return fmt.Errorf("building the control plane controller: %w", err)
	}
	return trackKinds(ctx, mgr, cfg, discovery, tools, ctl, kinds)
}

var deletions = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// trackKinds watches the kinds of other operators as soon as they are installed.
func trackKinds(
	ctx context.Context, mgr ctrl.Manager, cfg startup.Config, discovery time.Duration, tools *pass.Tools,
	ctl controller.Controller, changes watches.Resync,
) error {
	find := controlPlanes(mgr.GetClient())
	owned := owner(mgr, find)
	watches := []crdwatch.Watch{
		{Object: &infraapi.MariaDB{}, Handler: handler.EnqueueRequestsFromMapFunc(find.By(indexMariaDB))},
		{Object: &infraapi.Memcached{}, Handler: handler.EnqueueRequestsFromMapFunc(find.By(indexMemcached))},
		{Object: &esov1.ExternalSecret{}, Handler: owned},
		{Object: &esov1alpha1.PushSecret{}, Handler: owned},
		{Object: &orcv1alpha1.ApplicationCredential{}, Handler: owned},
		{Object: &orcv1alpha1.Domain{}, Handler: owned},
		{Object: &orcv1alpha1.User{}, Handler: owned},
		{Object: &orcv1alpha1.Service{}, Handler: owned},
		{Object: &orcv1alpha1.Endpoint{}, Handler: owned},
		{Object: &orcv1alpha1.Project{}, Handler: owned},
		{Object: &orcv1alpha1.Role{}, Handler: owned},
	}
	for _, svc := range services.All {
		watches = append(watches, crdwatch.Watch{Object: svc.Empty(), Handler: owned})
	}
	if cfg.Namespace == "" {
		// A namespaced Role does not grant cluster-scoped kinds.
		watches = append(watches, crdwatch.Watch{
			Object: &esov1.ClusterSecretStore{}, Handler: handler.EnqueueRequestsFromMapFunc(find.All),
			Predicates: []predicate.Predicate{secrets.StoreChanges},
		})
	}
	kinds, err := crdwatch.New(mgr, watches, changes.Send)
	if err != nil {
		return err
	}
	kinds.SetInterval(discovery)
	if cfg.Namespace != "" {
		kinds.OnlyAsk()
	}
	tools.Kinds, tools.Foreign = kinds, kinds.Client(mgr.GetClient())
	return kinds.Bind(ctx, mgr, ctl)
}

// defaulted applies the defaults first, as a pass does.
func defaulted(names func(*c5c3v1alpha1.ControlPlane) []string) func(*c5c3v1alpha1.ControlPlane) []string {
	return func(cp *c5c3v1alpha1.ControlPlane) []string {
		cp = cp.DeepCopy()
		c5c3v1alpha1.SetDefaults(cp)
		return names(cp)
	}
}

// controlPlanes maps events to ControlPlanes.
func controlPlanes(reader client.Reader) watches.Mapper[*c5c3v1alpha1.ControlPlane] {
	return watches.Mapper[*c5c3v1alpha1.ControlPlane]{
		Reader: reader, Plural: "ControlPlanes", NewList: func() client.ObjectList { return &c5c3v1alpha1.ControlPlaneList{} },
	}
}

// owner maps an event to the ControlPlane that controls the object. A deleted object may
// have had a name that another ControlPlane of the namespace is waiting for.
func owner(mgr ctrl.Manager, find watches.Mapper[*c5c3v1alpha1.ControlPlane]) handler.EventHandler {
	owner := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &c5c3v1alpha1.ControlPlane{}, handler.OnlyControllerOwner())
	return handler.Funcs{
		CreateFunc: owner.Create, UpdateFunc: owner.Update, GenericFunc: owner.Generic,
		DeleteFunc: handler.EnqueueRequestsFromMapFunc(find.SameNamespace).Delete,
	}
}
