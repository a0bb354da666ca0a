package controller

import (
	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
)

// Relation is how an object maps to the resources to reconcile when it changes.
type Relation int

const (
	// Owned objects are written by the operator and controlled by their resource.
	Owned Relation = iota
	// Labelled objects name their resource in the label [service.LabelInstance].
	Labelled
	// Referenced objects are named by a field of the resources to reconcile.
	Referenced
	// Every maps an object to all resources.
	Every
	// Sharer is a resource of another service, which maps to those with the same database.
	Sharer
)

// Kind declares a kind that a controller watches. The scheme, index, watch and cache
// transform are derived from it.
type Kind[R service.Resource] struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Relation selects the resources to reconcile on an event.
	Relation Relation
	// Index is the field index from the name of a [Referenced] object to the resources
	// that refer to it. Names returns the values for a resource; it is nil if the index
	// already exists, such as [IndexSecret].
	Index string
	Names func(R) []string
	// Orphaned are those objects of an [Owned] kind that have another controller or
	// none and lead to their resource by their label. It may be nil.
	Orphaned func(client.Object) bool
	// Released marks an [Owned] kind whose objects stand for a database: when one is gone,
	// every resource with that database is reconciled.
	Released bool
	// Predicates filter the events.
	Predicates []predicate.Predicate
	// AddToScheme registers the kind. It is nil for built-in kinds.
	AddToScheme func(*runtime.Scheme) error
	// Optional marks kinds of other projects, which may be installed later or not at all.
	Optional bool
	// ClusterScoped marks kinds that an operator restricted to one namespace cannot read.
	ClusterScoped bool
}

// Field indexes that every service has, from a name to the resources that refer to it.
// The index of databases is [service.IndexDatabase].
const (
	IndexSecret    = "spec.secretRefs.name"
	IndexConfigMap = "spec.policyOverrides.configMapRef.name"
	indexMariaDB   = "spec.database.clusterRef.name"
)

// common returns the kinds that every service's controller watches.
func common[R service.Resource]() []Kind[R] {
	optional := func(object client.Object, addToScheme func(*runtime.Scheme) error) Kind[R] {
		return Kind[R]{Object: object, AddToScheme: addToScheme, Optional: true}
	}
	mariaDB := optional(&mariadbv1alpha1.MariaDB{}, mariadbv1alpha1.AddToScheme)
	mariaDB.Relation, mariaDB.Index, mariaDB.Names = Referenced, indexMariaDB, mariaDBs[R]
	externalSecret := optional(&esov1.ExternalSecret{}, esov1.AddToScheme)
	externalSecret.Relation, externalSecret.Index = Referenced, IndexSecret
	store := optional(&esov1.ClusterSecretStore{}, esov1.AddToScheme)
	store.Relation, store.ClusterScoped, store.Predicates = Every, true, []predicate.Predicate{secrets.StoreChanges}
	database := optional(&mariadbv1alpha1.Database{}, mariadbv1alpha1.AddToScheme)
	database.Released = true
	return []Kind[R]{
		{Object: &appsv1.Deployment{}},
		{Object: &corev1.Service{}},
		{Object: &corev1.ConfigMap{}},
		// Secrets that outlive their resource have no owner.
		{Object: &corev1.Secret{}, Orphaned: Unowned},
		{Object: &batchv1.Job{}, Orphaned: ofCronJob},
		{Object: &policyv1.PodDisruptionBudget{}},
		{Object: &autoscalingv2.HorizontalPodAutoscaler{}},
		{Object: &networkingv1.NetworkPolicy{}},
		{Object: &corev1.Pod{}, Relation: Labelled},
		mariaDB,
		database,
		optional(&mariadbv1alpha1.User{}, mariadbv1alpha1.AddToScheme),
		optional(&mariadbv1alpha1.Grant{}, mariadbv1alpha1.AddToScheme),
		optional(&certmanagerv1.Certificate{}, certmanagerv1.AddToScheme),
		optional(&gatewayv1.HTTPRoute{}, gatewayv1.Install),
		externalSecret,
		store,
	}
}

// Unowned reports whether the object has no controller.
func Unowned(obj client.Object) bool { return metav1.GetControllerOf(obj) == nil }

// ofCronJob reports whether the object is a Job of a CronJob, which is mapped to its
// resource only by label.
func ofCronJob(obj client.Object) bool {
	controller := metav1.GetControllerOf(obj)
	return controller != nil && controller.Kind == "CronJob"
}

func mariaDBs[R service.Resource](resource R) []string {
	if ref := resource.ServiceSpec().Database.ClusterRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}
