package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Hibernation describes how resources of a kind hibernate.
type Hibernation[T any] struct {
	// Set sets spec.hibernation.
	Set func(resource T, on bool)
	// Stopped returns nil if what the resource runs is stopped.
	Stopped func(ctx context.Context, namespace string) error
	// Drift starts something of it again.
	Drift Drift
	// Says are texts in the message of Ready.
	Says []string
}

// Hibernates verifies that a resource stops what it runs, keeps its data, wakes, and can be
// deleted while it hibernates.
func (s Trial[T]) Hibernates(t *testing.T) {
	o := s.converged(t)
	o.settle()
	secrets, jobs := o.contents(), o.jobNames()
	o.hibernates()
	o.quiet()
	o.restarts()
	obj := s.Hibernation.Drift.of(o.namespace())
	expect.Exists(t, s.Admin, obj)
	objects.Change(t, s.Admin, obj, s.Hibernation.Drift.spoil)
	expect.Eventually(t, "it stops again", func(ctx context.Context) error { return s.Hibernation.Stopped(ctx, o.namespace()) })
	o.wakes()
	if diff := cmp.Diff(secrets, o.contents()); diff != "" {
		t.Errorf("Secrets changed while the resource hibernated (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(jobs, o.jobNames()); diff != "" {
		t.Errorf("Jobs ran again (-before +after):\n%s", diff)
	}
	o.hibernates()
	objects.Delete(t, s.Admin, client.Object(o.copied()))
	expect.Gone(t, s.Admin, client.Object(o.copied()))
	if s.Gone != nil {
		expect.Eventually(t, "what goes with the resource is gone", func(ctx context.Context) error { return s.Gone(ctx, o.namespace()) })
	}
}

func (o *object[T]) setHibernation(on bool) {
	o.Helper()
	objects.Change(o.T, o.trial.Admin, o.Resource, func(resource T) { o.trial.Hibernation.Set(resource, on) })
}

// hibernates stops the resource and verifies what its status says.
func (o *object[T]) hibernates() {
	o.Helper()
	o.setHibernation(true)
	o.hibernated()
}

func (o *object[T]) hibernated() {
	o.Helper()
	o.Fails(vocabulary.ConditionReady, vocabulary.ReasonHibernated, append(o.trial.Hibernation.Says, "spec.hibernation")...)
	if err := o.trial.Hibernation.Stopped(o.Context(), o.namespace()); err != nil {
		o.Error(err)
	}
	if conditions := o.Resource.GetConditions(); len(conditions) != 1 {
		o.Errorf("conditions say what nobody checks: %+v", conditions)
	}
	if got := o.Operator.Announced(o.Resource)["Normal "+vocabulary.EventHibernated]; got < 1 {
		o.Errorf("%d events %s", got, vocabulary.EventHibernated)
	}
}

func (o *object[T]) wakes() {
	o.Helper()
	o.setHibernation(false)
	o.Ready()
	o.settle()
	if err := o.trial.Hibernation.Stopped(o.Context(), o.namespace()); err == nil {
		o.Error("it is still stopped")
	}
}

// contents returns the data of the Secrets in the namespace of the resource.
func (o *object[T]) contents() map[string]map[string][]byte {
	o.Helper()
	var list corev1.SecretList
	if err := o.trial.Admin.List(o.Context(), &list, client.InNamespace(o.namespace())); err != nil {
		o.Fatal(err)
	}
	contents := map[string]map[string][]byte{}
	for _, secret := range list.Items {
		contents[secret.Name] = secret.Data
	}
	return contents
}

// jobNames returns the identities of the Jobs in the namespace of the resource.
func (o *object[T]) jobNames() map[string]string {
	o.Helper()
	var list batchv1.JobList
	if err := o.trial.Admin.List(o.Context(), &list, client.InNamespace(o.namespace())); err != nil {
		o.Fatal(err)
	}
	names := map[string]string{}
	for _, job := range list.Items {
		names[job.Name] = string(job.UID)
	}
	return names
}

// hibernation verifies that a service hibernates, also one with an autoscaler, and that an
// upgrade ends first.
func (s suite[T]) hibernation(t *testing.T) {
	each(t, []proof{
		{"with " + string(s.fullest()), parallel(s.trial(t, s.fullest()).Hibernates)},
		{"with an autoscaler", parallel(s.hibernatesScaled)},
		{"after an upgrade", parallel(s.withData(s.hibernatesAfterUpgrade))},
		{"after a Job has ended", parallel(s.withData(s.hibernatesAfterJob))},
		{"before it has run for the first time", parallel(s.hibernatesFirst)},
	})
}

// hibernatesScaled verifies that an autoscaler goes on with one replica, which it would not do
// with none.
func (s suite[T]) hibernatesScaled(t *testing.T) {
	i := s.prepared(t, brownfield)
	i.Resource.ServiceSpec().Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 3, TargetMemoryUtilization: new(int32(80))}
	i.Create()
	deploy := i.deployment()
	i.Ready()
	i.hibernates()
	i.wakes()
	expect.Exists(t, s.Admin, deploy)
	if got := ptr.Deref(deploy.Spec.Replicas, 1); got != 1 {
		t.Errorf("%d replicas", got)
	}
	objects.Change(t, s.Admin, deploy, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) })
	i.settle()
	expect.Exists(t, s.Admin, deploy)
	if got := *deploy.Spec.Replicas; got != 2 {
		t.Errorf("the autoscaler wants 2 replicas, the operator %d", got)
	}
}

func (s suite[T]) hibernatesAfterUpgrade(t *testing.T) {
	i := s.converged(t, brownfield)
	i.setJob("db-expand", standin.Hang())
	i.setTag(after(i.tag(), 1))
	i.inPhase(commonv1.UpgradePhaseExpanding)
	i.setHibernation(true)
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonNotAllReady, "It hibernates after the upgrade to "+i.tag())
	i.setJob("db-expand", standin.Succeed())
	i.hibernated()
	if got := i.Resource.ServiceStatus().InstalledRelease; got != i.tag() {
		t.Errorf("it hibernates with release %s", got)
	}
}

func (s suite[T]) hibernatesAfterJob(t *testing.T) {
	i := s.prepared(t, brownfield)
	i.setJob("db-sync", standin.Hang())
	i.Create()
	i.database(vocabulary.ReasonDBSyncInProgress)
	i.setHibernation(true)
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonHibernating, "Job "+i.name()+"-db-sync has not ended")
	i.setJob("db-sync", standin.Succeed())
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonHibernated)
	i.wakes()
}

func (s suite[T]) hibernatesFirst(t *testing.T) {
	i := s.prepared(t, brownfield)
	i.Resource.ServiceSpec().Hibernation = new(true)
	i.Create()
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonHibernated)
	if found := i.children(); len(found) > 0 {
		t.Errorf("it has made %v", found)
	}
	i.wakes()
}

// stopped returns nil if no pod of the service may start.
func (s suite[T]) stopped(ctx context.Context, namespace string) error {
	deploy := &appsv1.Deployment{}
	if err := s.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: s.Definition.CodeName}, deploy); err != nil {
		return err
	}
	if got := ptr.Deref(deploy.Spec.Replicas, 1); got != 0 {
		return fmt.Errorf("the Deployment has %d replicas", got)
	}
	var cronJobs batchv1.CronJobList
	if err := s.Admin.List(ctx, &cronJobs, client.InNamespace(namespace)); err != nil {
		return err
	}
	for _, cronJob := range cronJobs.Items {
		if !ptr.Deref(cronJob.Spec.Suspend, false) {
			return fmt.Errorf("CronJob %s is not suspended", cronJob.Name)
		}
	}
	return nil
}

// hibernationOf describes how a service hibernates.
func (s suite[T]) hibernationOf() *Hibernation[T] {
	return &Hibernation[T]{
		Set:     func(resource T, on bool) { resource.ServiceSpec().Hibernation = &on },
		Stopped: s.stopped,
		Drift: DriftOf(&appsv1.Deployment{}, s.Definition.CodeName, "replicas",
			func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas }, new(int32(2))),
	}
}
