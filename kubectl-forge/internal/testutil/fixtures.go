// Package testutil builds the namespaces that tests describe.
package testutil

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// Namespace is the one of all fixtures.
const Namespace = "openstack"

// Now is the current time of the fixtures.
var Now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// Ago is a time before Now.
func Ago(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }

// Meta is the metadata of an object that is ten minutes old.
func Meta(name string, owner metav1.Object, kind string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Namespace: Namespace, Name: name, UID: types.UID(kind + "-" + name), Generation: 1, CreationTimestamp: Ago(10 * time.Minute),
	}
	if owner != nil {
		ownerKind, _, _ := strings.Cut(string(owner.GetUID()), "-")
		meta.OwnerReferences = []metav1.OwnerReference{{
			Kind: ownerKind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true),
		}}
	}
	return meta
}

// True is a condition that has been True for five minutes.
func True(conditionType, reason string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: 1, LastTransitionTime: Ago(5 * time.Minute),
	}
}

// False is a condition that has been False for four minutes.
func False(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: 1, LastTransitionTime: Ago(4 * time.Minute),
	}
}

// NotReady returns the conditions of an object that the causes prevent from being ready.
func NotReady(stalled bool, causes ...metav1.Condition) []metav1.Condition {
	conditions := append([]metav1.Condition{}, causes...)
	conditions = append(conditions, False(vocabulary.ConditionReady, vocabulary.ReasonNotAllReady,
		"Not ready: "+causes[0].Type+" ("+causes[0].Reason+": "+causes[0].Message+")"))
	if stalled {
		return append(conditions, True(vocabulary.ConditionStalled, causes[0].Reason))
	}
	return append(conditions, True(vocabulary.ConditionReconciling, vocabulary.ReasonProgressing))
}

// Keystone is one with a brownfield database.
func Keystone(conditions ...metav1.Condition) *keystonev1alpha1.Keystone {
	return &keystonev1alpha1.Keystone{
		ObjectMeta: Meta("keystone", nil, inventory.KindKeystone),
		Spec: keystonev1alpha1.KeystoneSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/keystone", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.openstack.svc.cluster.local:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "mariadb.openstack.svc.cluster.local", Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "keystone-db"},
				},
			},
			Bootstrap: keystonev1alpha1.BootstrapSpec{
				AdminUser: "admin", Region: "RegionOne", AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: "keystone-admin"},
			},
		},
		Status: keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{Conditions: conditions, ObservedGeneration: 1}},
	}
}

// Installed is a Keystone with release 2025.2.
func Installed(conditions ...metav1.Condition) *keystonev1alpha1.Keystone {
	k := Keystone(conditions...)
	k.Status.InstalledRelease, k.Status.Endpoint = "2025.2", "http://keystone.openstack.svc.cluster.local:5000/v3"
	return k
}

// Placement is one with a brownfield database and release 2025.2.
func Placement(conditions ...metav1.Condition) *placementv1alpha1.Placement {
	return &placementv1alpha1.Placement{
		ObjectMeta: Meta("placement", nil, inventory.KindPlacement),
		Spec: placementv1alpha1.PlacementSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Replicas: 1,
				Image:    commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"},
				Cache:    commonv1.CacheSpec{Servers: []string{"memcached.openstack.svc.cluster.local:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "mariadb.openstack.svc.cluster.local", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "placement-user"},
		},
		Status: placementv1alpha1.PlacementStatus{ServiceStatus: commonv1.ServiceStatus{
			Conditions: conditions, ObservedGeneration: 1, InstalledRelease: "2025.2",
			Endpoint: "http://placement.openstack.svc.cluster.local:8778",
		}},
	}
}

// Service returns the resource as a service, whose kind is part of the UID.
func Service(resource inventory.Resource) inventory.Instance {
	kind, _, _ := strings.Cut(string(resource.GetUID()), "-")
	return inventory.Instance{Resource: resource, Of: inventory.ServiceKindOf(kind)}
}

// ControlPlane is one that manages its database.
func ControlPlane(conditions ...metav1.Condition) *c5c3v1alpha1.ControlPlane {
	return &c5c3v1alpha1.ControlPlane{
		ObjectMeta: Meta("controlplane", nil, inventory.KindControlPlane),
		Spec: c5c3v1alpha1.ControlPlaneSpec{
			OpenStackRelease: "2025.2", Region: "RegionOne",
			Services: c5c3v1alpha1.ServicesSpec{Keystone: &c5c3v1alpha1.ServiceKeystoneSpec{}},
			KORC: c5c3v1alpha1.KORCSpec{AdminCredential: c5c3v1alpha1.AdminCredentialSpec{
				CloudCredentialsRef: c5c3v1alpha1.CloudCredentialsRef{CloudName: "admin", SecretName: "k-orc-clouds-yaml"},
			}},
		},
		Status: c5c3v1alpha1.ControlPlaneStatus{Conditions: conditions, ObservedGeneration: 1},
	}
}

// Deployment is one that wants a pod.
func Deployment(k *keystonev1alpha1.Keystone, available int32) appsv1.Deployment {
	return appsv1.Deployment{
		ObjectMeta: Meta(k.Name, k, "Deployment"),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: keystonev1alpha1.SelectorLabels(k.Name)},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: available},
	}
}

// Job is a Job of a Keystone or a CronJob.
func Job(owner metav1.Object, name string, conditions ...batchv1.JobConditionType) batchv1.Job {
	run := batchv1.Job{ObjectMeta: Meta(name, owner, "Job")}
	started := Ago(6 * time.Minute)
	run.Status.StartTime = &started
	for _, conditionType := range conditions {
		run.Status.Conditions = append(run.Status.Conditions, batchv1.JobCondition{
			Type: conditionType, Status: corev1.ConditionTrue, LastTransitionTime: Ago(5 * time.Minute),
		})
		if conditionType == batchv1.JobComplete {
			ended := Ago(5 * time.Minute)
			run.Status.CompletionTime = &ended
		}
	}
	return run
}

// APIPod is an API pod of a Keystone with the status of its container.
func APIPod(k *keystonev1alpha1.Keystone, name string, ready bool, status corev1.ContainerStatus) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: Meta(name, nil, "Pod")}
	pod.Labels = keystonev1alpha1.SelectorLabels(k.Name)
	return withStatus(pod, ready, status)
}

// JobPod is a pod of a Job with the status of its container.
func JobPod(run *batchv1.Job, name string, status corev1.ContainerStatus) corev1.Pod {
	return withStatus(corev1.Pod{ObjectMeta: Meta(name, run, "Pod")}, false, status)
}

func withStatus(pod corev1.Pod, ready bool, status corev1.ContainerStatus) corev1.Pod {
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{status}}
	switch {
	case status.State.Waiting != nil:
		pod.Status.Phase = corev1.PodPending
	case status.State.Terminated != nil:
		pod.Status.Phase = corev1.PodFailed
	}
	value := corev1.ConditionFalse
	if ready {
		value = corev1.ConditionTrue
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: value}}
	return pod
}

// Running is the status of a container that runs.
func Running(name string, ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

// Waiting is the status of a container that does not start.
func Waiting(name, image, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: image, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason},
	}}
}

// Ended is the status of a container that failed with a last message.
func Ended(name, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: message},
	}}
}

// Warning is an event of three minutes ago.
func Warning(kind string, obj metav1.Object, reason, message string) corev1.Event {
	return corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: obj.GetName() + "." + reason},
		Type:       corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: Ago(3 * time.Minute),
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: Namespace, Name: obj.GetName(), UID: obj.GetUID()},
	}
}

// ThirdParty is an object of another project with one condition.
func ThirdParty(apiVersion, kind, name string, owner metav1.Object, condition metav1.Condition) unstructured.Unstructured {
	obj := unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": condition.Type, "status": string(condition.Status), "reason": condition.Reason, "message": condition.Message,
			"lastTransitionTime": condition.LastTransitionTime.UTC().Format(time.RFC3339),
		}}},
	}}
	obj.SetAPIVersion(apiVersion)
	obj.SetKind(kind)
	meta := Meta(name, owner, kind)
	obj.SetNamespace(meta.Namespace)
	obj.SetName(meta.Name)
	obj.SetUID(meta.UID)
	obj.SetCreationTimestamp(meta.CreationTimestamp)
	obj.SetOwnerReferences(meta.OwnerReferences)
	return obj
}
