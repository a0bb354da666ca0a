package controller

import (
	"context"
	"fmt"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/crdwatch"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/watches"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Field indexes from the name of a referenced object to the Keystones that
// refer to it.
const (
	indexSecret    = "spec.secretRefs.name"
	indexConfigMap = "spec.policyOverrides.configMapRef.name"
	indexMariaDB   = "spec.database.clusterRef.name"
	// indexDatabase leads from a database to the Keystones that have it.
	indexDatabase = "spec.database"
)

func indexes(c cluster.Settings) map[string]func(*keystonev1alpha1.Keystone) []string {
	return map[string]func(*keystonev1alpha1.Keystone) []string{
		indexSecret:    referencedSecrets,
		indexConfigMap: referencedConfigMaps,
		indexMariaDB:   referencedMariaDBs,
		indexDatabase:  databaseKey(c),
	}
}

// watch builds the controller. Everything a pass reads is watched, so that
// waiting ends with the event and not with a timer.
func watch(
	ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options,
	tools *service.Tools, references *refs.Reader, logins source.Source, reconciler ctrlreconcile.Reconciler,
) error {
	find := keystones(mgr.GetClient())
	if err := find.Index(ctx, mgr.GetFieldIndexer(), &keystonev1alpha1.Keystone{}, indexes(cfg.Cluster)); err != nil {
		return err
	}
	kinds := watches.NewResync()
	ctl, err := ctrl.NewControllerManagedBy(mgr).Named(controllerName).
		For(&keystonev1alpha1.Keystone{}).
		// When one lets go of its database, the next one gets it.
		Watches(&keystonev1alpha1.Keystone{}, handler.EnqueueRequestsFromMapFunc(find.Sharing(indexDatabase, databaseKey(cfg.Cluster))),
			builder.WithPredicates(databaseChanges(cfg.Cluster))).
		Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Owns(&batchv1.Job{}).Owns(&batchv1.CronJob{}).
		Owns(&policyv1.PodDisruptionBudget{}).Owns(&autoscalingv2.HorizontalPodAutoscaler{}).Owns(&networkingv1.NetworkPolicy{}).
		Owns(&corev1.ServiceAccount{}).Owns(&rbacv1.Role{}).Owns(&rbacv1.RoleBinding{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(byInstance)).
		Watches(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(byInstance), builder.WithPredicates(scheduled)).
		// Secrets that outlive their Keystone have no owner.
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(byInstance), builder.WithPredicates(unowned)).
		WatchesRawSource(references.SecretSource(find.By(indexSecret))).
		WatchesRawSource(references.ConfigMapSource(find.By(indexConfigMap))).
		WatchesRawSource(tools.Prober.Source()).
		WatchesRawSource(logins).
		WatchesRawSource(kinds.Source(find.All)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cfg.MaxConcurrentReconciles,
			EnableWarmup:            ptr.To(true),
			RateLimiter:             watches.RateLimiter(),
		}).
		Build(reconciler)
	if err != nil {
		return fmt.Errorf("building the keystone controller: %w", err)
	}
	return trackKinds(ctx, mgr, cfg, options, tools, ctl, kinds)
}

var unowned = predicate.NewPredicateFuncs(func(obj client.Object) bool { return metav1.GetControllerOf(obj) == nil })

// scheduled are the Jobs of CronJobs, which lead to their Keystone only by a label.
var scheduled = predicate.NewPredicateFuncs(func(obj client.Object) bool {
	controller := metav1.GetControllerOf(obj)
	return controller != nil && controller.Kind == "CronJob"
})

func databaseKey(c cluster.Settings) func(*keystonev1alpha1.Keystone) []string {
	return func(k *keystonev1alpha1.Keystone) []string { return []string{k.DatabaseKey(c)} }
}

// databaseChanges are the events after which a database may have another Keystone.
func databaseChanges(c cluster.Settings) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, known := e.ObjectOld.(*keystonev1alpha1.Keystone)
			after, both := e.ObjectNew.(*keystonev1alpha1.Keystone)
			return known && both && before.DatabaseKey(c) != after.DatabaseKey(c)
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// trackKinds starts watching the kinds of other projects that are, or will be,
// installed.
func trackKinds(
	ctx context.Context, mgr ctrl.Manager, cfg operator.Config, options Options, tools *service.Tools,
	ctl controller.Controller, changes watches.Resync,
) error {
	find := keystones(mgr.GetClient())
	owned := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &keystonev1alpha1.Keystone{}, handler.OnlyControllerOwner())
	watches := []crdwatch.Watch{
		{Object: &mariadbv1alpha1.MariaDB{}, Handler: handler.EnqueueRequestsFromMapFunc(find.By(indexMariaDB))},
		{Object: &mariadbv1alpha1.Database{}, Handler: owned},
		{Object: &mariadbv1alpha1.User{}, Handler: owned},
		{Object: &mariadbv1alpha1.Grant{}, Handler: owned},
		{Object: &certmanagerv1.Certificate{}, Handler: owned},
		{Object: &gatewayv1.HTTPRoute{}, Handler: owned},
		{Object: &esov1alpha1.PushSecret{}, Handler: owned},
		{Object: &esov1.ExternalSecret{}, Handler: handler.EnqueueRequestsFromMapFunc(find.By(indexSecret))},
	}
	if cfg.Namespace == "" {
		// A namespaced Role does not reach cluster-scoped kinds.
		watches = append(watches, crdwatch.Watch{
			Object: &esov1.ClusterSecretStore{}, Handler: handler.EnqueueRequestsFromMapFunc(find.All),
			Predicates: []predicate.Predicate{secrets.StoreChanges},
		})
	}
	kinds, err := crdwatch.New(mgr, watches, changes.Send)
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

func referencedSecrets(k *keystonev1alpha1.Keystone) []string {
	names := []string{
		k.Spec.Database.SecretRef.Name, k.Spec.Bootstrap.AdminPasswordSecretRef.Name,
		// A lost key Secret may come back without the owner reference that would
		// announce it, and a Secret of somebody else may stand in the way of ours.
		fernetKeysName(k), credentialKeysName(k), database.SecretName(k.Name),
		stagingName(fernetKeysName(k)), stagingName(credentialKeysName(k)), nextPasswordName(k),
	}
	if ref := k.Spec.ExtraConfigSecretRef; ref != nil {
		names = append(names, ref.Name)
	}
	if tls := k.Spec.Database.TLS; tls != nil {
		for _, ref := range []*commonv1.SecretRefSpec{tls.CABundleSecretRef, tls.ClientCertSecretRef} {
			if ref != nil {
				names = append(names, ref.Name)
			}
		}
	}
	return names
}

func referencedConfigMaps(k *keystonev1alpha1.Keystone) []string {
	if overrides := k.Spec.PolicyOverrides; overrides != nil && overrides.ConfigMapRef != nil {
		return []string{overrides.ConfigMapRef.Name}
	}
	return nil
}

func referencedMariaDBs(k *keystonev1alpha1.Keystone) []string {
	if ref := k.Spec.Database.ClusterRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}

// keystones finds the Keystones that an event concerns.
func keystones(reader client.Reader) watches.Mapper[*keystonev1alpha1.Keystone] {
	return watches.Mapper[*keystonev1alpha1.Keystone]{
		Reader: reader, Plural: "Keystones", NewList: func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} },
	}
}

// byInstance maps an object to the Keystone its labels name.
func byInstance(_ context.Context, obj client.Object) []ctrlreconcile.Request {
	name := obj.GetLabels()[service.LabelInstance]
	if name == "" {
		return nil
	}
	return []ctrlreconcile.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}}}
}
