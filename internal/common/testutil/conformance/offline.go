package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// offline verifies upgrades during which the API is stopped.
func (s suite[T]) offline(t *testing.T) {
	t.Run("an offline upgrade stops everything and starts the API on a migrated database", s.stoppedUpgrade)
	t.Run("an offline migration waits for old pods and can be aborted until then", s.stoppedAndTakenBack)
	t.Run("an unusable image stops no pods", s.unusableImage)
	t.Run("an offline upgrade waits while the hold annotation is set", s.heldUpgrade)
}

// far is a release that no upgrade reaches in one step.
func (i *Instance[T]) far() string { return after(i.tag(), 9) }

// request sets the annotations of the resource for the tag.
func (i *Instance[T]) request(tag string, annotations ...string) {
	i.Helper()
	objects.Change(i.T, i.Admin, i.Resource, func(r T) {
		asked := map[string]string{}
		for _, annotation := range annotations {
			asked[annotation] = tag
		}
		r.SetAnnotations(asked)
	})
}

// stopped waits until the Deployment and the CronJobs of the resource are stopped.
func (i *Instance[T]) stopped() {
	i.Helper()
	i.Fails(vocabulary.ConditionDeploymentReady, vocabulary.ReasonDeploymentStopped, "the API has been down since 20")
	i.replicas(0)
	i.suspended(true)
}

// suspended waits until the CronJobs of the resource, if it has any, are suspended or not.
func (i *Instance[T]) suspended(want bool) {
	i.Helper()
	expect.Eventually(i.T, "whether the CronJobs are suspended", func(ctx context.Context) error {
		var list batchv1.CronJobList
		if err := i.Admin.List(ctx, &list, client.InNamespace(i.namespace())); err != nil {
			return err
		}
		for _, cronJob := range list.Items {
			if ptr.Deref(cronJob.Spec.Suspend, false) != want {
				return fmt.Errorf("CronJob %s: %t", cronJob.Name, !want)
			}
		}
		return nil
	})
}

// serves fails the test unless the API of the release is started again.
func (i *Instance[T]) serves(tag string, replicas int32) {
	i.Helper()
	i.installed(tag)
	i.replicas(replicas)
	i.suspended(false)
	expect.Object(i.T, i.Admin, i.Resource, func() error {
		if since := i.Resource.ServiceStatus().DownSince; since != nil {
			return fmt.Errorf("it is down since %s", since)
		}
		return nil
	})
}

// runs returns how often each Job of the schema has succeeded.
func (i *Instance[T]) schemaRuns() map[string]int {
	runs := map[string]int{}
	for _, task := range []string{schema.TaskSync, schema.TaskCheck, schema.TaskExpand, schema.TaskMigrate, schema.TaskContract} {
		if count := len(i.Jobs.Runs(i.namespace(), i.name()+"-"+task)); count > 0 {
			runs[task] = count
		}
	}
	return runs
}

func (s suite[T]) stoppedUpgrade(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	i.change(func(spec *commonv1.ServiceSpec) {
		spec.Replicas, spec.Autoscaling = 2, &commonv1.AutoscalingSpec{MaxReplicas: 5, TargetCPUUtilization: new(int32(80))}
	})
	i.Ready()
	old, far := i.tag(), i.far()
	const full = "no space left"
	i.setTag(far)
	i.database(vocabulary.ReasonUpgradePathInvalid, commonv1.AnnotationOfflineUpgrade, "the API is down", "a restore of a database backup")
	i.setJob(schema.TaskSync, standin.Hang())
	i.request(far, commonv1.AnnotationOfflineUpgrade)
	i.database(vocabulary.ReasonDBSyncInProgress, "migrating the database from "+old+" to "+far, "the API has been down since 20")
	i.inPhase(commonv1.UpgradePhaseSyncing)
	i.stopped()
	i.scheduled(far)
	i.setTag(old)
	i.database(vocabulary.ReasonUpgradeAbortRefused, "the migration of the database has begun", "the only way back to "+old+" is a restore")
	i.setTag(after(far, 1))
	i.database(vocabulary.ReasonUpgradeTargetChanged, "set image.tag to "+far+" to finish it")
	i.setTag(far)
	i.setJob(schema.TaskSync, standin.Fail(full))
	i.setSecret(i.databaseSecret(), map[string]string{"password": "another"})
	i.database(vocabulary.ReasonDBSyncFailed,
		full, "going back to "+old+" takes a restore of a database backup", "the API has been down since 20")
	i.replicas(0)
	i.correct(schema.TaskSync, "a last one")
	i.Condition(vocabulary.ConditionDatabaseReady, metav1.ConditionTrue, vocabulary.ReasonDatabaseSynced,
		"(upgraded "+old+" → "+far+")")
	// A Deployment that was stopped has one replica until its autoscaler has seen it.
	i.serves(far, 1)
	i.settle()
	want := map[string]int{schema.TaskSync: 2, schema.TaskCheck: 3}
	if s.MigratesAfterSync {
		want[schema.TaskMigrate] = 1
	}
	if diff := cmp.Diff(want, i.schemaRuns()); diff != "" {
		t.Errorf("successful Jobs (-want +got):\n%s", diff)
	}
	for _, event := range []string{vocabulary.EventUpgradeInitiated, vocabulary.EventServiceStopped, vocabulary.EventUpgradeComplete} {
		i.event("Normal "+event, 1)
		i.announced("Normal "+event, 1)
	}
}

// remainingPod creates a pod of the resource's Deployment on a node without a kubelet. Once
// it is deleted it stays, like a pod that is still finishing requests.
func (i *Instance[T]) remainingPod() *corev1.Pod {
	i.Helper()
	image := i.Resource.ServiceSpec().Image
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: "old-pod", Labels: i.Definition.Labels(i.name())},
		Spec: corev1.PodSpec{
			NodeName: "gone", Containers: []corev1.Container{{Name: i.Definition.CodeName, Image: image.Repository + ":" + image.Tag}},
		},
	}
	objects.Create(i.T, i.Admin, pod)
	objects.Delete(i.T, i.Admin, pod)
	expect.Exists(i.T, i.Admin, pod)
	i.Operator.Sees(i.T, pod)
	return pod
}

func (s suite[T]) stoppedAndTakenBack(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	old, far := i.tag(), i.far()
	pod := i.remainingPod()
	i.request(far, commonv1.AnnotationOfflineUpgrade)
	i.setTag(far)
	i.database(vocabulary.ReasonUpgradeStopping, "pod old-pod", "set image.tag back to "+old+" to abort", "the API has been down since 20")
	i.stopped()
	i.setTag(after(far, 1))
	i.database(vocabulary.ReasonUpgradeTargetChanged, "set image.tag to "+far+" to finish it, or to "+old+" to abort it")
	i.setTag(old)
	i.serves(old, 1)
	i.announced("Normal "+vocabulary.EventUpgradeAborted, 1)
	if runs := i.schemaRuns(); runs[schema.TaskSync] != 1 || runs[schema.TaskMigrate] > 0 {
		t.Errorf("the database was migrated: %v", runs)
	}
	i.setTag(far)
	i.database(vocabulary.ReasonUpgradeStopping, "pod old-pod")
	i.settle()
	i.inPhase(commonv1.UpgradePhaseStopping)
	objects.Delete(t, s.Admin, pod, client.GracePeriodSeconds(0))
	i.serves(far, 1)
}

func (s suite[T]) unusableImage(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	old, far := i.tag(), i.far()
	i.setJob(schema.TaskCheck, standin.NoImage("not found"))
	i.request(far, commonv1.AnnotationOfflineUpgrade)
	i.setTag(far)
	i.database(vocabulary.ReasonSchemaCheckInProgress, append(i.unpulled(), "set image.tag back to "+old)...)
	i.settle()
	i.replicas(1)
	i.runs(old)
	i.setJob(schema.TaskCheck, standin.Succeed())
	i.setTag(old)
	i.serves(old, 1)
	i.announced("Normal "+vocabulary.EventUpgradeInitiated, 0)
}

func (s suite[T]) heldUpgrade(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	next := after(i.tag(), 1)
	i.request(next, commonv1.AnnotationOfflineUpgrade, commonv1.AnnotationHoldUpgrade)
	i.setTag(next)
	i.database(vocabulary.ReasonUpgradeHeld, commonv1.AnnotationHoldUpgrade, "the API has been down since 20")
	i.stopped()
	i.settle()
	i.inPhase(commonv1.UpgradePhaseStopping)
	i.request(next, commonv1.AnnotationOfflineUpgrade)
	i.serves(next, 1)
}
