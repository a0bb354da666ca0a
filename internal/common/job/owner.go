package job

import (
	"context"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// restore restores the labels and the owner reference if they were removed. It makes no
// request if nothing is missing.
func (r *Runner) restore(ctx context.Context, owner client.Object, live, desired *batchv1.Job) error {
	before := live.DeepCopy()
	if err := controllerutil.SetControllerReference(owner, live, r.Scheme); err != nil {
		return fmt.Errorf("setting the owner of Job %s: %w", live.Name, err)
	}
	if metav1.IsControlledBy(before, owner) && carries(before, desired.Labels) {
		return nil
	}
	if live.Labels == nil {
		live.Labels = map[string]string{}
	}
	maps.Copy(live.Labels, desired.Labels)
	// A merge patch replaces the whole list of owners: without the lock, an owner added
	// since the read would be lost.
	return apply.Merge(ctx, r.Client, before, live, "restoring the metadata of")
}

// evict deletes a Job of a deleted resource of the same kind and name that garbage
// collection has not reached yet, and refuses any other Job.
func (r *Runner) evict(ctx context.Context, owner client.Object, live *batchv1.Job) (State, error) {
	if apply.Classify(r.Scheme, owner, live) != apply.Predecessors {
		return State{}, apply.Refuse(live)
	}
	// The cache may never have had this Job, so reads that wait for it to see the
	// deletion would wait forever.
	return State{Waiting: "the Job of a deleted predecessor is being removed"},
		r.delete(ctx, live, metav1.DeletePropagationForeground, client.DisableReadYourWritesConsistency)
}

// isOurs reports whether the Job belongs to the owner. That includes a Job that has lost
// its owner reference but has the labels and a run key.
func (r *Runner) isOurs(owner client.Object, live, desired *batchv1.Job) bool {
	switch apply.Classify(r.Scheme, owner, live) {
	case apply.Ours:
		return true
	case apply.Orphan:
		return live.Annotations[RunKeyAnnotation] != "" && len(desired.Labels) > 0 && carries(live, desired.Labels)
	}
	return false
}

func carries(obj client.Object, wanted map[string]string) bool {
	return labels.SelectorFromSet(wanted).Matches(labels.Set(obj.GetLabels()))
}

// delete deletes the Job unless it is gone or another one has its name now.
func (r *Runner) delete(
	ctx context.Context, live *batchv1.Job, policy metav1.DeletionPropagation, options ...client.DeleteOption,
) error {
	err := apply.Delete(ctx, r.Client, live, append(options, client.PropagationPolicy(policy))...)
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
