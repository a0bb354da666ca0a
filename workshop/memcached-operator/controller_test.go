package main

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func memcached() *Memcached {
	return &Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cache", UID: "u", Generation: 3},
		Spec:       MemcachedSpec{Replicas: ptr.To[int32](2)},
	}
}

func newReconciler(t *testing.T, objects ...client.Object) *reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := addToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &reconciler{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&Memcached{}).Build()}
}

var request = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "cache"}}

func TestAMemcachedGetsServersBehindAServiceOfItsName(t *testing.T) {
	r := newReconciler(t, memcached())
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	var servers appsv1.Deployment
	var svc corev1.Service
	if err := r.Get(t.Context(), request.NamespacedName, &servers); err != nil {
		t.Fatal(err)
	}
	if err := r.Get(t.Context(), request.NamespacedName, &svc); err != nil {
		t.Fatal(err)
	}
	container := servers.Spec.Template.Spec.Containers[0]
	if *servers.Spec.Replicas != 2 || container.Image != defaultImage || !metav1.IsControlledBy(&servers, memcached()) {
		t.Errorf("%d replicas of %s", *servers.Spec.Replicas, container.Image)
	}
	if svc.Spec.ClusterIP != corev1.ClusterIPNone || svc.Spec.Ports[0].Port != 11211 ||
		svc.Spec.Selector["app.kubernetes.io/instance"] != "cache" {
		t.Errorf("%+v", svc.Spec)
	}
}

func TestAMemcachedThatIsGoneIsNoError(t *testing.T) {
	if _, err := newReconciler(t).Reconcile(t.Context(), request); err != nil {
		t.Error(err)
	}
}

func TestReadyRequiresAllReplicasToBeUpdatedAndReady(t *testing.T) {
	for name, test := range map[string]struct {
		status appsv1.DeploymentStatus
		want   metav1.ConditionStatus
	}{
		"all there": {
			appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}, metav1.ConditionTrue,
		},
		"one is missing": {
			appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 1}, metav1.ConditionFalse,
		},
		"one is outdated": {
			appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 2}, metav1.ConditionFalse,
		},
		"an unobserved generation": {appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}, metav1.ConditionFalse},
		"nothing known, yet":       {appsv1.DeploymentStatus{}, metav1.ConditionFalse},
	} {
		m := memcached()
		setStatus(m, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: test.status})
		got := meta.FindStatusCondition(m.Status.Conditions, conditionType)
		if got.Status != test.want || got.ObservedGeneration != 3 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
