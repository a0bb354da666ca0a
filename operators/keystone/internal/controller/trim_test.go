package controller

import (
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func trim(t *testing.T, obj client.Object) {
	t.Helper()
	if _, err := Trim(obj); err != nil {
		t.Fatal(err)
	}
}

// A CronJob keeps several Jobs of each Keystone.
func TestJobsAreCachedWithTheirEndAndTheImageThatAKeystoneRan(t *testing.T) {
	for kind, wantContainers := range map[string]int{"CronJob": 0, "Keystone": 1} {
		job := &batchv1.Job{}
		job.Name, job.Annotations = "keystone-db-contract", map[string]string{"a": "b"}
		job.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "keystone", Controller: ptr.To(true)}}
		job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager"}}
		job.Spec.Suspend, job.Spec.BackoffLimit = ptr.To(true), ptr.To(int32(3))
		job.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "config"}}
		job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "tool", Image: "keystone:2025.2", Command: []string{"db_sync"}}}
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed}}
		want := &batchv1.Job{ObjectMeta: *job.ObjectMeta.DeepCopy(), Status: *job.Status.DeepCopy()}
		want.ManagedFields, want.Spec.Suspend = nil, ptr.To(true)
		if wantContainers > 0 {
			want.Spec.Template.Spec.Containers = []corev1.Container{{Name: "tool", Image: "keystone:2025.2"}}
		}
		trim(t, job)
		if diff := cmp.Diff(want, job); diff != "" {
			t.Errorf("a Job of a %s is cached as (-want +got):\n%s", kind, diff)
		}
	}
}

func TestPodsAreCachedWithWhatTheyRunAndWhyTheyDoNot(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "no route to host"}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "keystone-1", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{database.HashAnnotation(&definition): "c"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Spec: corev1.PodSpec{
			NodeName:       "node",
			InitContainers: []corev1.Container{{Name: "copy", Image: "keystone:2025.2", Command: []string{"cp"}}},
			Containers:     []corev1.Container{{Name: "keystone", Image: "keystone:2025.2", Env: []corev1.EnvVar{{Name: "A"}}}},
			Volumes:        []corev1.Volume{{Name: volumeFernetKeys}, {Name: deployment.VolumeConfig}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending, PodIP: "192.0.2.1", StartTime: ptr.To(metav1.Unix(1_000_000, 0)),
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no node"}, {Type: corev1.PodReady, Status: corev1.ConditionFalse},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "keystone", Image: "keystone:2025.2", ImageID: "sha256:0", Ready: true, State: ended, LastTerminationState: ended,
			}},
		},
	}
	want := &corev1.Pod{ObjectMeta: *pod.ObjectMeta.DeepCopy()}
	want.ManagedFields = nil
	want.Spec = corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "copy", Image: "keystone:2025.2"}},
		Containers:     []corev1.Container{{Name: "keystone", Image: "keystone:2025.2"}},
		Volumes:        []corev1.Volume{{Name: deployment.VolumeConfig}},
	}
	want.Status = corev1.PodStatus{
		Phase: corev1.PodPending, StartTime: ptr.To(metav1.Unix(1_000_000, 0)),
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no node"}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "keystone", Image: "keystone:2025.2", Ready: true, State: ended, LastTerminationState: ended,
		}},
	}
	trim(t, pod)
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("a Pod is cached as (-want +got):\n%s", diff)
	}
}

func TestWhoWroteAFieldIsKnownInTheCacheOnlyWhereThePassesAsk(t *testing.T) {
	const (
		nobody = ""
		own    = apply.FieldManager
	)
	for want, objects := range map[string][]client.Object{
		nobody: {
			&keystonev1alpha1.Keystone{}, &mariadbv1alpha1.MariaDB{}, &esov1.ExternalSecret{}, &esov1.ClusterSecretStore{},
			&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Pod{}, &batchv1.Job{},
		},
		own: {&mariadbv1alpha1.Database{}, &mariadbv1alpha1.User{}, &mariadbv1alpha1.Grant{}, &appsv1.Deployment{}, &batchv1.CronJob{}},
	} {
		for _, obj := range objects {
			obj.SetName("a")
			obj.SetAnnotations(map[string]string{"a": "b"})
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: apply.FieldManager}})
			trim(t, obj)
			got := ""
			for _, entry := range obj.GetManagedFields() {
				got += " " + entry.Manager
			}
			if len(got) > 0 {
				got = got[1:]
			}
			if got != want || obj.GetName() != "a" || obj.GetAnnotations()["a"] != "b" {
				t.Errorf("of %T the writers %q are known, want %q", obj, got, want)
			}
		}
	}
}

// TestADeploymentIsCachedWithoutWhatIsOnlyApplied also covers CronJobs, whose pods are
// trimmed alike.
func TestADeploymentIsCachedWithoutWhatIsOnlyApplied(t *testing.T) {
	s := scopeOf(minimal())
	service.Config.Put(s.Slots, service.Rendered{Options: keystoneOptions(cluster.Settings{}, s.keystone, false)})
	for what, c := range map[string]struct {
		obj  client.Object
		pods func(client.Object) *corev1.PodTemplateSpec
	}{
		"Deployment": {apiDeployment(s), func(obj client.Object) *corev1.PodTemplateSpec { return &obj.(*appsv1.Deployment).Spec.Template }},
		"CronJob": {trustFlushCronJob(s), func(obj client.Object) *corev1.PodTemplateSpec {
			return &obj.(*batchv1.CronJob).Spec.JobTemplate.Spec.Template
		}},
	} {
		whole := c.pods(c.obj.DeepCopyObject().(client.Object))
		trim(t, c.obj)
		want := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: whole.Annotations}}
		want.Spec.Containers = []corev1.Container{{Name: whole.Spec.Containers[0].Name, Image: whole.Spec.Containers[0].Image}}
		if diff := cmp.Diff(want, c.pods(c.obj)); diff != "" {
			t.Errorf("the pods of a %s are cached as (-want +got):\n%s", what, diff)
		}
	}
}
