package controller

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/cronjob"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// reconcileTrustFlush ensures the CronJob that deletes expired trusts. The schedule is
// always set, as the defaults of a pass apply with or without a webhook.
func reconcileTrustFlush(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	if err := job.EnsureCronJob(ctx, s.Client, s.Scheme, s.Resource, trustFlushCronJob(s)); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	again, err := cronjob.Check(ctx, s, trustFlushSchedule)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	return reconcile.Done(keystonev1alpha1.ReasonTrustFlushReady, "The CronJob that deletes expired trusts is in place").After(again)
}

// trustFlush is the suffix of the CronJob.
const trustFlush = "trust-flush"

var trustFlushSchedule = cronjob.Schedule{
	Name: trustFlush, Does: "deleting expired trusts", Failed: keystonev1alpha1.ReasonTrustFlushFailed,
}

func trustFlushCronJob(s *pass.Scope) *batchv1.CronJob {
	k := s.Resource
	mounts := append([]deployment.Mount{deployment.ConfigMount(s.Pass)}, keys.Mounts(k.Name)...)
	pod := deployment.PodsOf(s.Pass).Spec(corev1.Container{
		Name: trustFlush, Image: pass.ScheduledImage(k), Command: slices.Concat(pass.Manage("trust_flush"), k.Spec.TrustFlush.Args),
		Env: pass.Database.ToolEnv(s.Pass), Resources: deployment.TaskResources(k.Spec.Resources),
	}, append(mounts, database.TLSMounts(s.Pass)...)...)
	pod.RestartPolicy = corev1.RestartPolicyOnFailure
	task := metav1.ObjectMeta{Labels: pass.Definition.TaskLabels(k.Name, trustFlush)}
	return &batchv1.CronJob{
		ObjectMeta: s.Meta(s.Named(trustFlush)),
		Spec: batchv1.CronJobSpec{
			Schedule: k.Spec.TrustFlush.Schedule,
			Suspend:  ptr.To(k.Spec.TrustFlush.Suspend || k.Status.UpgradePhase.IsOffline()),
			JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: task, Spec: batchv1.JobSpec{
				ActiveDeadlineSeconds: ptr.To(deployment.TaskDeadlineSeconds),
				Template: corev1.PodTemplateSpec{
					ObjectMeta: deployment.PodsOf(s.Pass).TaskMeta(&pass.Definition, k.Name, trustFlush, pass.ScheduledImage(k), nil),
					Spec:       pod,
				},
			}},
		},
	}
}
