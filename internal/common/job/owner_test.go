package job

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

func withoutLabels(job *batchv1.Job) *batchv1.Job {
	job.Labels = nil
	return job
}

func withoutOwner(job *batchv1.Job) *batchv1.Job {
	job.OwnerReferences = nil
	return job
}

func withController(job *batchv1.Job, apiVersion, kind, name string) *batchv1.Job {
	reference := &job.OwnerReferences[0]
	reference.APIVersion, reference.Kind, reference.Name, reference.UID = apiVersion, kind, name, "somebody"
	return job
}

func withoutRunKey(job *batchv1.Job) *batchv1.Job {
	delete(job.Annotations, RunKeyAnnotation)
	return job
}

func TestAForeignJobIsReportedAndNeverTouched(t *testing.T) {
	for name, foreign := range map[string]*batchv1.Job{
		"created by hand":                 withoutLabels(withoutOwner(withoutRunKey(live(t, "key", "image:1")))),
		"with a run key and other labels": withoutLabels(withoutOwner(live(t, "key", "image:1"))),
		"with our labels and no run key":  withoutOwner(withoutRunKey(live(t, "key", "image:1"))),
		"of another kind with our name":   withController(live(t, "key", "image:1"), "v1", "Secret", owner.Name),
		"of another group with our name":  withController(live(t, "key", "image:1"), "example.com/v1", "ConfigMap", owner.Name),
		"of our kind with another name":   withController(live(t, "key", "image:1"), "v1", "ConfigMap", "glance"),
		"of another kind that the cache does not show": withoutLabels(
			withController(live(t, "key", "image:1"), "v1", "Secret", owner.Name)),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, foreign)
			before := r.read(t)
			_, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			if !errors.Is(err, apply.ErrNotOwned) || len(r.deleted) != 0 || r.created != 0 {
				t.Errorf("error %v, deleted %v, created %d; want %v and nothing done", err, r.deleted, r.created, apply.ErrNotOwned)
			}
			if diff := cmp.Diff(before, r.read(t)); diff != "" {
				t.Errorf("the foreign Job changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAnUnlabelledJobIsNotAdopted(t *testing.T) {
	r := newRun(t, withoutLabels(withoutOwner(live(t, "key", "image:1", condition(batchv1.JobComplete, 0)))))
	_, err := r.runner.Run(t.Context(), owner, withoutLabels(desired("key", "image:1")))
	if !errors.Is(err, apply.ErrNotOwned) || r.patched != 0 {
		t.Errorf("error %v, patched %d times; want %v and no patch", err, r.patched, apply.ErrNotOwned)
	}
}

func TestAJobOfADeletedPredecessorIsRemovedAndItsResultIgnored(t *testing.T) {
	predecessors := func(conditions ...batchv1.JobCondition) *batchv1.Job {
		job := live(t, "key", "image:1", conditions...)
		// Another version of the owner's API is still the same kind.
		return withController(job, "v1beta1", "ConfigMap", owner.Name)
	}
	for name, old := range map[string]*batchv1.Job{
		"in the cache":     predecessors(condition(batchv1.JobComplete, 0)),
		"not in the cache": withoutLabels(predecessors(condition(batchv1.JobComplete, 0))),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, old)
			state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			want := []metav1.DeletionPropagation{metav1.DeletePropagationForeground}
			if err != nil || state.Complete || state.Waiting == "" || !cmp.Equal(r.deleted, want) {
				t.Errorf("state %+v, error %v, deleted %v; want it to wait and %v", state, err, r.deleted, want)
			}
			if r.unawaited != 1 {
				t.Errorf("%d deletions that reads do not wait for, want 1: the cache may never show this one", r.unawaited)
			}
			if left := r.read(t); left != nil {
				t.Errorf("Job %s is still there, want it gone", left.Name)
			}
		})
	}
}

func TestMissingLabelsOrOwnerOfAJobAreRestored(t *testing.T) {
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "other", UID: "other"}
	complete, failed := condition(batchv1.JobComplete, 0), condition(batchv1.JobFailed, 0)
	for name, test := range map[string]struct {
		live       *batchv1.Job
		wantOwners int
		wantDone   bool
		wantFailed bool
	}{
		"running, without labels":  {live: withoutLabels(live(t, "key", "image:1")), wantOwners: 1},
		"complete, without labels": {live: withoutLabels(live(t, "key", "image:1", complete)), wantOwners: 1, wantDone: true},
		"failed, without labels":   {live: withoutLabels(live(t, "key", "image:1", failed)), wantOwners: 1, wantFailed: true},
		"complete, without owner":  {live: withoutOwner(live(t, "key", "image:1", complete)), wantOwners: 1, wantDone: true},
		"complete, with an owner that does not control it": {
			live: func() *batchv1.Job {
				job := withoutOwner(live(t, "key", "image:1", complete))
				job.OwnerReferences = []metav1.OwnerReference{other}
				return job
			}(),
			wantOwners: 2, wantDone: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, test.live)
			state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
			if errors.Is(err, ErrJobFailed) != test.wantFailed || (err != nil && !test.wantFailed) || state.Complete != test.wantDone {
				t.Fatalf("state %+v, error %v; want complete %t, failed %t", state, err, test.wantDone, test.wantFailed)
			}
			got := r.read(t)
			if got.UID != "live" || !metav1.IsControlledBy(got, owner) || len(got.OwnerReferences) != test.wantOwners {
				t.Errorf("UID %s, owners %v; want the same Job under our control", got.UID, got.OwnerReferences)
			}
			if diff := cmp.Diff(desired("", "").Labels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if _, err := r.runner.Run(t.Context(), owner, desired("key", "image:1")); errors.Is(err, apply.ErrNotOwned) || r.patched != 1 {
				t.Errorf("second pass: error %v, %d patches; want the one patch of the first pass", err, r.patched)
			}
		})
	}
}

func TestATerminatingJobMissingFromTheCacheIsAwaited(t *testing.T) {
	old := withoutLabels(live(t, "key", "image:1", condition(batchv1.JobComplete, 0)))
	old.Finalizers = []string{metav1.FinalizerDeleteDependents}
	r := newRun(t, old)
	if err := r.runner.Client.Delete(t.Context(), old, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	state, err := r.runner.Run(t.Context(), owner, desired("key", "image:1"))
	if err != nil || state.Complete || state.Waiting == "" || r.created != 0 || r.patched != 0 || len(r.deleted) != 1 {
		t.Errorf("state %+v, error %v; want nothing done but waiting", state, err)
	}
}

func TestRemoveDeletesOwnJobsEvenWithoutOwnerAndKeepsForeignOnes(t *testing.T) {
	for name, test := range map[string]struct {
		live        *batchv1.Job
		wantDeleted int
		unawaited   int
	}{
		"as it was created": {live: live(t, "key", "image:1"), wantDeleted: 1},
		"without owner":     {live: withoutOwner(live(t, "key", "image:1")), wantDeleted: 1},
		"without labels":    {live: withoutLabels(live(t, "key", "image:1")), wantDeleted: 1, unawaited: 1},
		"of another owner":  {live: withController(live(t, "key", "image:1"), "v1", "Secret", owner.Name)},
		"made by hand":      {live: withoutOwner(withoutRunKey(live(t, "key", "image:1")))},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, test.live)
			gone, err := r.runner.Remove(t.Context(), owner, desired("", ""))
			if err != nil || gone != (test.wantDeleted == 0) || len(r.deleted) != test.wantDeleted || r.unawaited != test.unawaited {
				t.Errorf("gone %t, error %v, deleted %v, %d unawaited", gone, err, r.deleted, r.unawaited)
			}
			if gone, err := r.runner.Remove(t.Context(), owner, desired("", "")); !gone || err != nil {
				t.Errorf("afterwards: gone %t, error %v", gone, err)
			}
		})
	}
}
