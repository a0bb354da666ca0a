package main

import (
	"context"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	fieldManager  = client.FieldOwner("memcached-operator")
	conditionType = "Ready"
)

// reconciler maintains a Deployment and a Service for each Memcached.
type reconciler struct {
	client.Client
}

func (r *reconciler) setup(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&Memcached{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var m Memcached
	if err := r.Get(ctx, request.NamespacedName, &m); err != nil || m.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.Apply(ctx, service(&m), fieldManager, client.ForceOwnership); err != nil {
		return ctrl.Result{}, fmt.Errorf("apply the Service: %w", err)
	}
	if err := r.Apply(ctx, deployment(&m), fieldManager, client.ForceOwnership); err != nil {
		return ctrl.Result{}, fmt.Errorf("apply the Deployment: %w", err)
	}
	var servers appsv1.Deployment
	if err := r.Get(ctx, request.NamespacedName, &servers); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("read the Deployment: %w", err)
	}
	return ctrl.Result{}, r.report(ctx, &m, &servers)
}

// report writes the status if it changed.
func (r *reconciler) report(ctx context.Context, m *Memcached, servers *appsv1.Deployment) error {
	before := m.deepCopy()
	setStatus(m, servers)
	if reflect.DeepEqual(before.Status, m.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, m, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}

// setStatus sets Ready if the desired number of servers, all of them up to date, is ready.
func setStatus(m *Memcached, servers *appsv1.Deployment) {
	wanted := ptr.Deref(m.Spec.Replicas, 1)
	condition := metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: "WaitingForServers", ObservedGeneration: m.Generation,
		Message: fmt.Sprintf("%d of %d servers are ready", servers.Status.ReadyReplicas, wanted),
	}
	s := servers.Status
	current := servers.Generation > 0 && s.ObservedGeneration == servers.Generation
	if current && s.Replicas == wanted && s.UpdatedReplicas == wanted && s.ReadyReplicas == wanted {
		condition.Status, condition.Reason = metav1.ConditionTrue, "ServersReady"
	}
	m.Status.ObservedGeneration = m.Generation
	m.Status.ReadyReplicas = s.ReadyReplicas
	meta.SetStatusCondition(&m.Status.Conditions, condition)
}
