package apiservice

import (
	"context"

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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/watches"
)

// common returns the kinds that every service's controller watches.
func common() []controller.Kind {
	return []controller.Kind{
		{Object: &appsv1.Deployment{}},
		{Object: &corev1.Service{}},
		{Object: &corev1.ConfigMap{}},
		// Secrets that outlive their resource have no owner.
		{Object: &corev1.Secret{}, Also: Unowned},
		{Object: &batchv1.Job{}, Also: labelled(ofCronJob)},
		{Object: &policyv1.PodDisruptionBudget{}},
		{Object: &autoscalingv2.HorizontalPodAutoscaler{}},
		{Object: &networkingv1.NetworkPolicy{}},
		{Object: &corev1.Pod{}, Concerns: labelled(func(client.Object) bool { return true })},
		{Object: &gatewayv1.HTTPRoute{}, AddToScheme: gatewayv1.Install, Optional: true},
		{Object: &esov1.ExternalSecret{}, AddToScheme: esov1.AddToScheme, Optional: true, Concerns: controller.By(indexSecret)},
		{
			Object: &esov1.ClusterSecretStore{}, AddToScheme: esov1.AddToScheme, Optional: true, ClusterScoped: true,
			Concerns: controller.Every, Only: secrets.StoreChanges,
		},
	}
}

// databases returns what the controller of a service with a database watches in addition.
// sharers selects the resources with the database of an object.
func databases(sharers controller.Relation) []controller.Kind {
	return []controller.Kind{
		{Object: &mariadbv1alpha1.MariaDB{}, AddToScheme: mariadbv1alpha1.AddToScheme, Optional: true, Concerns: controller.By(indexMariaDB)},
		{Object: &mariadbv1alpha1.Database{}, AddToScheme: mariadbv1alpha1.AddToScheme, Optional: true, Freed: sharers},
		{Object: &mariadbv1alpha1.User{}, AddToScheme: mariadbv1alpha1.AddToScheme, Optional: true},
		{Object: &mariadbv1alpha1.Grant{}, AddToScheme: mariadbv1alpha1.AddToScheme, Optional: true},
		{Object: &certmanagerv1.Certificate{}, AddToScheme: certmanagerv1.AddToScheme, Optional: true},
	}
}

// Unowned selects the resource that the labels of an object without a controller name.
func Unowned(find watches.Finder) handler.MapFunc { return labelled(unowned)(find) }

func unowned(obj client.Object) bool { return metav1.GetControllerOf(obj) == nil }

// ofCronJob reports whether the object is a Job of a CronJob, which leads to its resource
// only by label.
func ofCronJob(obj client.Object) bool {
	controller := metav1.GetControllerOf(obj)
	return controller != nil && controller.Kind == "CronJob"
}

// labelled selects the resource that the labels of an object name, if it is one of those.
func labelled(of func(client.Object) bool) controller.Relation {
	return func(watches.Finder) handler.MapFunc {
		return func(_ context.Context, obj client.Object) []ctrlreconcile.Request {
			name := obj.GetLabels()[service.LabelInstance]
			if name == "" || !of(obj) {
				return nil
			}
			return []ctrlreconcile.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}}}
		}
	}
}
