package controller

import (
	"slices"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/backup"
	"github.com/c5c3/forge/operators/c5c3/internal/credentialrotation"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/metrics"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/secretaggregate"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// Field indexes from the name of an object to the ControlPlanes that read it.
const (
	indexSecret  = "spec.secretRefs.name"
	indexMariaDB = "spec.infrastructure.database.clusterRef.name"
	indexCache   = "spec.infrastructure.cache.clusterRef.name"
)

// controlPlanes declares the controller of ControlPlanes.
var controlPlanes = controller.Controller[*c5c3v1alpha1.ControlPlane, *pass.Tools, *pass.Pass]{
	For:          &c5c3v1alpha1.ControlPlane{},
	List:         &c5c3v1alpha1.ControlPlaneList{},
	AddToScheme:  c5c3v1alpha1.AddToScheme,
	FieldManager: pass.FieldManager,
	Kinds: slices.Concat(
		[]controller.Kind{
			{Object: &corev1.Secret{}},
			{Object: &networkingv1.NetworkPolicy{}},
			// The Backup and its CronJob belong to mariadb-operator. A namespace has one ControlPlane.
			{Object: &batchv1.CronJob{}, Concerns: controller.SameNamespace},
			{Object: &batchv1.Job{}, Also: controller.SameNamespace},
			{Object: &corev1.Pod{}, Concerns: controller.SameNamespace},
			// When the active ControlPlane is deleted, its duplicates are reconciled.
			{Object: &c5c3v1alpha1.ControlPlane{}, Concerns: controller.SameNamespace, Only: deletions},
			{Object: &c5c3v1alpha1.CredentialRotation{}, Concerns: controller.SameNamespace, Only: predicate.GenerationChangedPredicate{}},
			{Object: &infraapi.MariaDB{}, AddToScheme: infraapi.AddToScheme, Optional: true, Applied: true, Concerns: controller.By(indexMariaDB)},
			{Object: &infraapi.Memcached{}, AddToScheme: infraapi.AddToScheme, Optional: true, Applied: true, Concerns: controller.By(indexCache)},
			{
				Object: &esov1.ClusterSecretStore{}, AddToScheme: esov1.AddToScheme, Optional: true, ClusterScoped: true,
				Concerns: controller.Every, Only: secrets.StoreChanges,
			},
		},
		children(infraapi.AddToScheme, &infraapi.Backup{}, &infraapi.Restore{}),
		children(esov1.AddToScheme, &esov1.ExternalSecret{}),
		children(esov1alpha1.AddToScheme, &esov1alpha1.PushSecret{}),
		children(orcv1alpha1.AddToScheme,
			&orcv1alpha1.ApplicationCredential{}, &orcv1alpha1.Domain{}, &orcv1alpha1.User{}, &orcv1alpha1.Service{},
			&orcv1alpha1.Endpoint{}, &orcv1alpha1.Project{}, &orcv1alpha1.Role{}),
		resources(services.All),
	),
	Indexes: map[string]func(*c5c3v1alpha1.ControlPlane) []string{
		indexSecret: defaulted(func(cp *c5c3v1alpha1.ControlPlane) []string {
			return append(append(services.All.DatabaseSecrets(cp), backup.Secrets(cp, services.All)...),
				cp.AdminSecretRef().Name, cp.PasswordCloudSecretName(), cp.ApplicationCredentialName(),
				cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)
		}),
		indexMariaDB: defaulted(func(cp *c5c3v1alpha1.ControlPlane) []string {
			return append(namesOf(cp.Spec.Infrastructure.Database.ClusterRef), backup.CheckServer(cp))
		}),
		indexCache: defaulted(func(cp *c5c3v1alpha1.ControlPlane) []string {
			return namesOf(cp.Spec.Infrastructure.Cache.ClusterRef)
		}),
	},
	// The cache of referenced Secrets may be ahead of the one from which the operator's own
	// Secrets are read, so those are watched as well.
	Secrets: controller.By(indexSecret),
	Trim:    backup.Trim,

	Guard:      guard,
	Outdated:   c5c3v1alpha1.Outdated,
	Preflight:  refuseDuplicates,
	Scope:      pass.New,
	Pipeline:   pipeline,
	Finalizers: finalizers,
	Summarise:  services.All.Summarise,

	Hibernation: &hibernation,

	Background: func(tools *pass.Tools) []controller.Background { return []controller.Background{tools.Proofs} },
	Gauges:     metrics.OfControlPlane,
}

// controllers are those of this operator.
var controllers = []controller.Declaration{controlPlanes, credentialrotation.Controller, secretaggregate.Controller}

// Scheme registers every type that the controllers read or write.
func Scheme() *runtime.Scheme { return controller.Scheme(controllers...) }

// Trim is the cache transform that drops fields nothing reads.
var Trim = controller.CacheTransform(controllers...)

// Outlines describes the controllers of this operator for the documentation.
func Outlines() []reconcile.Outline {
	return []reconcile.Outline{controlPlanes.Outline(), credentialrotation.Controller.Outline(), secretaggregate.Controller.Outline()}
}

// children are kinds of other operators with objects of a ControlPlane. A deleted object may
// have had a name that another ControlPlane of the namespace is waiting for.
func children(addToScheme func(*runtime.Scheme) error, objects ...client.Object) []controller.Kind {
	kinds := make([]controller.Kind, len(objects))
	for i, object := range objects {
		kinds[i] = controller.Kind{Object: object, AddToScheme: addToScheme, Freed: controller.SameNamespace, Optional: true}
	}
	return kinds
}

// resources are the kinds of the services and of their parts.
func resources(all services.List) []controller.Kind {
	kinds := make([]controller.Kind, 0, len(all))
	for _, svc := range all {
		kinds = append(kinds, children(svc.AddToScheme, svc.Empty())...)
		if svc.Parts != nil {
			kinds = append(kinds, children(svc.AddToScheme, svc.Parts.Empty())...)
		}
	}
	return kinds
}

var deletions = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(event.UpdateEvent) bool { return false },
}

// defaulted applies the defaults first, as a pass does.
func defaulted(names func(*c5c3v1alpha1.ControlPlane) []string) func(*c5c3v1alpha1.ControlPlane) []string {
	return func(cp *c5c3v1alpha1.ControlPlane) []string {
		cp = cp.DeepCopy()
		c5c3v1alpha1.SetDefaults(cp)
		return names(cp)
	}
}

func namesOf(ref *corev1.LocalObjectReference) []string {
	if ref == nil {
		return nil
	}
	return []string{ref.Name}
}
