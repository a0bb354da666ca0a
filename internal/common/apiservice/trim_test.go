package apiservice

import (
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func trimmed(t *testing.T, obj client.Object) {
	t.Helper()
	if _, err := declared().Trim()(obj); err != nil {
		t.Fatal(err)
	}
}

// A CronJob keeps several Jobs of each resource.
func TestJobsAreCachedWithStatusAndImageOnly(t *testing.T) {
	for kind, wantContainers := range map[string]int{"CronJob": 0, "Harbour": 1} {
		job := &batchv1.Job{}
		job.Name, job.Annotations = "harbour-db-contract", map[string]string{"a": "b"}
		job.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "harbour", Controller: ptr.To(true)}}
		job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager"}}
		job.Spec.Suspend, job.Spec.BackoffLimit = ptr.To(true), ptr.To(int32(3))
		job.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "config"}}
		job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "tool", Image: "harbour:2025.2", Command: []string{"db_sync"}}}
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed}}
		want := &batchv1.Job{ObjectMeta: *job.ObjectMeta.DeepCopy(), Status: *job.Status.DeepCopy()}
		want.ManagedFields, want.Spec.Suspend = nil, ptr.To(true)
		if wantContainers > 0 {
			want.Spec.Template.Spec.Containers = []corev1.Container{{Name: "tool", Image: "harbour:2025.2"}}
		}
		trimmed(t, job)
		if diff := cmp.Diff(want, job); diff != "" {
			t.Errorf("a Job of a %s is cached as (-want +got):\n%s", kind, diff)
		}
	}
}

func TestPodsAreCachedWithImagesAndContainerStatusesOnly(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "no route to host"}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "harbour-1", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"hash": "c"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Spec: corev1.PodSpec{
			NodeName:       "node",
			InitContainers: []corev1.Container{{Name: "copy", Image: "harbour:2025.2", Command: []string{"cp"}}},
			Containers:     []corev1.Container{{Name: "harbour", Image: "harbour:2025.2", Env: []corev1.EnvVar{{Name: "A"}}}},
			Volumes:        []corev1.Volume{{Name: "keys"}, {Name: deployment.VolumeConfig}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending, PodIP: "192.0.2.1", StartTime: ptr.To(metav1.Unix(1_000_000, 0)),
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no node"}, {Type: corev1.PodReady, Status: corev1.ConditionFalse},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "harbour", Image: "harbour:2025.2", ImageID: "sha256:0", Ready: true, State: ended, LastTerminationState: ended,
			}},
		},
	}
	want := &corev1.Pod{ObjectMeta: *pod.ObjectMeta.DeepCopy()}
	want.ManagedFields = nil
	want.Spec = corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "copy", Image: "harbour:2025.2"}},
		Containers:     []corev1.Container{{Name: "harbour", Image: "harbour:2025.2"}},
		Volumes:        []corev1.Volume{{Name: deployment.VolumeConfig}},
	}
	want.Status = corev1.PodStatus{
		Phase: corev1.PodPending, StartTime: ptr.To(metav1.Unix(1_000_000, 0)),
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no node"}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "harbour", Image: "harbour:2025.2", Ready: true, State: ended, LastTerminationState: ended,
		}},
	}
	trimmed(t, pod)
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("a Pod is cached as (-want +got):\n%s", diff)
	}
}

func TestManagedFieldsAreCachedOnlyForAppliedKinds(t *testing.T) {
	const (
		nobody = ""
		own    = apply.FieldManager
	)
	for want, objects := range map[string][]client.Object{
		nobody: {
			&instance.Harbour{}, &mariadbv1alpha1.MariaDB{}, &esov1.ExternalSecret{}, &esov1.ClusterSecretStore{},
			&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Pod{}, &batchv1.Job{},
		},
		own: {&mariadbv1alpha1.Database{}, &mariadbv1alpha1.User{}, &mariadbv1alpha1.Grant{}, &appsv1.Deployment{}, &batchv1.CronJob{}},
	} {
		for _, obj := range objects {
			obj.SetName("a")
			obj.SetAnnotations(map[string]string{"a": "b"})
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: apply.FieldManager}})
			trimmed(t, obj)
			got := ""
			for _, entry := range obj.GetManagedFields() {
				got += " " + entry.Manager
			}
			if len(got) > 0 {
				got = got[1:]
			}
			_, content := obj.(*corev1.ConfigMap)
			if got != want || obj.GetName() != "a" || !content && obj.GetAnnotations()["a"] != "b" {
				t.Errorf("of %T the writers %q are known, want %q", obj, got, want)
			}
		}
	}
}

func TestFieldsThatAreOnlyAppliedAreNotCached(t *testing.T) {
	pods := corev1.PodTemplateSpec{}
	pods.Labels, pods.Annotations = map[string]string{"a": "b"}, map[string]string{"hash": "c"}
	pods.Spec.Containers = []corev1.Container{{Name: "harbour", Image: "harbour:2025.2", Command: []string{"serve"}}}
	pods.Spec.Volumes = []corev1.Volume{{Name: "keys"}}
	kept := corev1.PodSpec{Containers: []corev1.Container{{Name: "harbour", Image: "harbour:2025.2"}}}

	deploy := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(3)), MinReadySeconds: 7, Template: pods}}
	trimmed(t, deploy)
	want := appsv1.DeploymentSpec{Replicas: ptr.To(int32(3))}
	want.Template.Annotations, want.Template.Spec = pods.Annotations, kept
	if diff := cmp.Diff(want, deploy.Spec); diff != "" {
		t.Errorf("a Deployment is cached as (-want +got):\n%s", diff)
	}

	cronJob := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "@daily", Suspend: ptr.To(true), FailedJobsHistoryLimit: ptr.To(int32(1))}}
	cronJob.Spec.JobTemplate.Spec.Template = pods
	trimmed(t, cronJob)
	wantCron := batchv1.CronJobSpec{Schedule: "@daily", Suspend: ptr.To(true)}
	wantCron.JobTemplate.Spec.Template.Spec = kept
	if diff := cmp.Diff(wantCron, cronJob.Spec); diff != "" {
		t.Errorf("a CronJob is cached as (-want +got):\n%s", diff)
	}

	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}}}}
	trimmed(t, role)
	if role.Name != "harbour" || role.Rules != nil {
		t.Errorf("a Role is cached as %v", role)
	}
}
