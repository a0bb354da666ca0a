package controller

import (
	"context"
	"fmt"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/watches"
)

// Field indexes from the name of a referenced object to the resources that refer to it.
const (
	indexSecret    = "spec.secretRefs.name"
	indexConfigMap = "spec.policyOverrides.configMapRef.name"
	indexMariaDB   = "spec.database.clusterRef.name"
	// indexDatabase leads from a database to the resources that have it.
	indexDatabase = "spec.database"
)

func (c Controller[T]) indexes(in cluster.Settings) map[string]func(T) []string {
	return map[string]func(T) []string{
		indexSecret: c.referencedSecrets,
		indexConfigMap: func(resource T) []string {
			if overrides := resource.ServiceSpec().PolicyOverrides; overrides != nil && overrides.ConfigMapRef != nil {
				return []string{overrides.ConfigMapRef.Name}
			}
			return nil
		},
		indexMariaDB: func(resource T) []string {
			if ref := resource.ServiceSpec().Database.ClusterRef; ref != nil {
				return []string{ref.Name}
			}
			return nil
		},
		indexDatabase: databaseKeys[T](in),
	}
}

func databaseKeys[T service.Resource](in cluster.Settings) func(T) []string {
	return func(resource T) []string {
		return []string{resource.ServiceSpec().Database.Key(in, resource.GetNamespace())}
	}
}

// referencedSecrets are the Secrets that a resource refers to, and the one with its
// connection: a Secret of somebody else may stand in the way of that.
func (c Controller[T]) referencedSecrets(resource T) []string {
	spec := resource.ServiceSpec()
	names := append(c.Secrets(resource), spec.Database.SecretRef.Name, resource.GetName()+"-db-connection")
	refs := []*commonv1.SecretRefSpec{spec.ExtraConfigSecretRef}
	if tls := spec.Database.TLS; tls != nil {
		refs = append(refs, tls.CABundleSecretRef, tls.ClientCertSecretRef)
	}
	for _, ref := range refs {
		if ref != nil {
			names = append(names, ref.Name)
		}
	}
	return names
}

func (c Controller[T]) find(reader client.Reader) watches.Mapper[T] {
	return watches.Mapper[T]{Reader: reader, Plural: c.plural(), NewList: c.NewList}
}

// watch builds the controller. Everything a pass reads is watched, so that waiting ends with
// the event and not with a timer.
func (c Controller[T]) watch(
	ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options,
	tools *service.Tools, references *refs.Reader, reconciler ctrlreconcile.Reconciler,
) error {
	find := c.find(mgr.GetClient())
	if err := find.Index(ctx, mgr.GetFieldIndexer(), c.New(), c.indexes(cfg.Cluster)); err != nil {
		return err
	}
	kinds := watches.NewResync()
	ctl, err := ctrl.NewControllerManagedBy(mgr).Named(c.Definition.Name).
		For(c.New()).
		// When one lets go of its database, the next one gets it.
		Watches(c.New(), handler.EnqueueRequestsFromMapFunc(find.Sharing(indexDatabase, databaseKeys[T](cfg.Cluster))),
			builder.WithPredicates(databaseChanges[T](cfg.Cluster))).
		Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Owns(&batchv1.Job{}).
		Owns(&policyv1.PodDisruptionBudget{}).Owns(&autoscalingv2.HorizontalPodAutoscaler{}).Owns(&networkingv1.NetworkPolicy{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(byInstance)).
		WatchesRawSource(references.SecretSource(find.By(indexSecret))).
		WatchesRawSource(references.ConfigMapSource(find.By(indexConfigMap))).
		WatchesRawSource(tools.Prober.Source()).
		WatchesRawSource(kinds.Source(find.All)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		}).
		Build(reconciler)
	if err != nil {
		return fmt.Errorf("building the %s controller: %w", c.Definition.Name, err)
	}
	return c.trackKinds(ctx, mgr, cfg, options, tools, ctl, kinds)
}

// databaseChanges are the events after which a database may have another user.
func databaseChanges[T service.Resource](in cluster.Settings) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, known := e.ObjectOld.(T)
			after, both := e.ObjectNew.(T)
			return known && both && before.ServiceSpec().Database.Key(in, before.GetNamespace()) !=
				after.ServiceSpec().Database.Key(in, after.GetNamespace())
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// trackKinds starts watching the kinds of other projects that are, or will be, installed.
func (c Controller[T]) trackKinds(
	ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options, tools *service.Tools,
	ctl controller.Controller, changes watches.Resync,
) error {
	find := c.find(mgr.GetClient())
	owned := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), c.New(), handler.OnlyControllerOwner())
	watched := []crdwatch.Watch{
		{Object: &mariadbv1alpha1.MariaDB{}, Handler: handler.EnqueueRequestsFromMapFunc(find.By(indexMariaDB))},
		{Object: &mariadbv1alpha1.Database{}, Handler: owned},
		{Object: &mariadbv1alpha1.User{}, Handler: owned},
		{Object: &mariadbv1alpha1.Grant{}, Handler: owned},
		{Object: &certmanagerv1.Certificate{}, Handler: owned},
		{Object: &gatewayv1.HTTPRoute{}, Handler: owned},
		{Object: &esov1.ExternalSecret{}, Handler: handler.EnqueueRequestsFromMapFunc(find.By(indexSecret))},
	}
	if cfg.Namespace == "" {
		// A namespaced Role does not reach cluster-scoped kinds.
		watched = append(watched, crdwatch.Watch{
			Object: &esov1.ClusterSecretStore{}, Handler: handler.EnqueueRequestsFromMapFunc(find.All),
			Predicates: []predicate.Predicate{secrets.StoreChanges},
		})
	}
	kinds, err := crdwatch.New(mgr, watched, changes.Send)
	if err != nil {
		return err
	}
	kinds.SetInterval(options.DiscoveryInterval)
	if cfg.Namespace != "" {
		kinds.OnlyAsk()
	}
	tools.Kinds, tools.ThirdParty = kinds, kinds.Client(mgr.GetClient())
	return kinds.Bind(ctx, mgr, ctl)
}

// byInstance maps an object to the resource that its labels name.
func byInstance(_ context.Context, obj client.Object) []ctrlreconcile.Request {
	name := obj.GetLabels()[service.LabelInstance]
	if name == "" {
		return nil
	}
	return []ctrlreconcile.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}}}
}
