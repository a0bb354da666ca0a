// Package scheduled runs a tool of a service on a schedule, and reports the results of its
// Jobs.
package scheduled

import (
	"cmp"
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Task declares a CronJob.
type Task struct {
	// Name is the suffix of the CronJob, the component of its pods, and the name of their
	// container.
	Name string
	// Does says what the Jobs do, as in "deleting expired trusts".
	Does string
	// Ready is the reason of the condition, and Failed that if the last Job failed.
	Ready, Failed string
	// Database is the database that the Jobs log in to.
	Database database.Database
}

// Run is what the Jobs of a task do in a pass, and when.
type Run struct {
	Command  []string
	Mounts   []deployment.Mount
	Schedule string
	Suspend  bool
}

// Reconcile ensures the CronJob, and reports whether its last Job failed or cannot start.
func (t Task) Reconcile(ctx context.Context, p *service.Pass, run Run) reconcile.Outcome {
	if err := job.EnsureCronJob(ctx, p.Client, p.Scheme, p.Resource, t.CronJob(p, run)); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	again, err := t.Check(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	return reconcile.Done(t.Ready, fmt.Sprintf("CronJob %s is in place: %s", p.Named(t.Name), t.Does)).After(again)
}

// CronJob builds the CronJob. During an offline upgrade, whose schema fits no image, it
// pauses.
func (t Task) CronJob(p *service.Pass, run Run) *batchv1.CronJob {
	name := p.Resource.GetName()
	mounts := append(append([]deployment.Mount{deployment.ConfigMount(p)}, run.Mounts...), database.TLSMounts(p)...)
	pod := deployment.PodsOf(p).Spec(corev1.Container{
		Name: t.Name, Image: Image(p.Spec, p.Status), Command: run.Command,
		Env: t.Database.ToolEnv(p), Resources: deployment.TaskResources(p.Spec.Resources),
	}, mounts...)
	pod.RestartPolicy = corev1.RestartPolicyOnFailure
	return &batchv1.CronJob{
		ObjectMeta: p.Meta(p.Named(t.Name)),
		Spec: batchv1.CronJobSpec{
			Schedule: run.Schedule,
			Suspend:  ptr.To(run.Suspend || p.Status.UpgradePhase.IsOffline()),
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: p.TaskLabels(name, t.Name)},
				Spec: batchv1.JobSpec{
					ActiveDeadlineSeconds: ptr.To(deployment.TaskDeadlineSeconds),
					Template: corev1.PodTemplateSpec{
						ObjectMeta: deployment.PodsOf(p).TaskMeta(p.Definition, name, t.Name, Image(p.Spec, p.Status), nil),
						Spec:       pod,
					},
				},
			},
		},
	}
}

// Check returns an error if the last Job of the CronJob failed or cannot start. Otherwise
// it returns the requeue delay, zero to wait for a watch.
func (t Task) Check(ctx context.Context, p *service.Pass) (again time.Duration, err error) {
	last, err := service.Runner(p).LastRun(ctx, p.Key(p.Named(t.Name)), t.Name, p.TaskLabels(p.Resource.GetName(), t.Name))
	switch {
	case err != nil:
		return 0, err
	case last.Job == "":
		return last.Again, nil
	}
	return 0, reconcile.TerminalError(t.Failed, t.lastRunError(p, last)).Within(last.Again)
}

// lastRunError describes the problem with a Job of the CronJob and how it is resolved.
func (t Task) lastRunError(p *service.Pass, last job.LastRun) error {
	verb := "cannot start"
	if last.Failed {
		verb = "failed"
	}
	return fmt.Errorf("%s: Job %s %s: %s%s; this clears when a Job of the CronJob succeeds; start one with "+
		"kubectl create job --from=cronjob/%s", t.Does, last.Job, verb, last.Text, t.Database.Hint(p, last.Text), p.Named(t.Name))
}

// Image returns the image of CronJobs: that of the installed release until the database
// schema fits the wanted one. From phase Contracting on, the schema no longer fits the old
// release. During an offline upgrade CronJobs are suspended. An image with a digest is used
// once a Job has looked into it.
func Image(spec *commonv1.ServiceSpec, status *commonv1.ServiceStatus) string {
	tag := cmp.Or(status.InstalledRelease, spec.Image.Tag)
	if status.UpgradePhase.IsFinal() || status.UpgradePhase.IsOffline() {
		tag = status.TargetRelease
	}
	wanted := spec.Image
	if tag == wanted.Tag && (wanted.Digest == "" || image.Found(status, wanted.Reference()) != nil) {
		return wanted.Reference()
	}
	// The digest of the spec is that of the wanted release.
	if known := status.ImageOf(tag); known != nil && commonv1.DigestOf(known.Reference) != "" {
		return known.Reference
	}
	return commonv1.ImageSpec{Repository: wanted.Repository, Tag: tag}.Reference()
}
