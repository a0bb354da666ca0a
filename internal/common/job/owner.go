package job

import (
	"context"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// lookUp reads the Job with the desired name from the API server. The read is
// unstructured because the client serves typed ones from a cache that may be limited by
// label. It must not wait for a cache, as that would start an informer of unstructured
// Jobs.
func (r *Runner) lookUp(ctx context.Context, desired *batchv1.Job) (*batchv1.Job, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(desired), found, client.DisableReadYourWritesConsistency); err != nil {
		return nil, fmt.Errorf("reading Job %s, whose name is taken: %w", desired.Name, err)
	}
	live := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, live); err != nil {
		return nil, fmt.Errorf("converting Job %s: %w", desired.Name, err)
	}
	return live, nil
}

// restore restores the labels and the owner reference if they were removed. It makes no
// request if nothing is missing.
func (r *Runner) restore(ctx context.Context, owner client.Object, live, desired *batchv1.Job) error {
	before := live.DeepCopy()
	if err := controllerutil.SetControllerReference(owner, live, r.Scheme); err != nil {
		return fmt.Errorf("setting the owner of Job %s: %w", live.Name, err)
	}
	if metav1.IsControlledBy(before, owner) && carries(before.Labels, desired.Labels) {
		return nil
	}
	if live.Labels == nil {
		live.Labels = map[string]string{}
	}
	maps.Copy(live.Labels, desired.Labels)
	// A merge patch replaces the whole list of owners: without the lock, an owner added
	// since the read would be lost.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, live, patch); err != nil {
		return fmt.Errorf("restoring the metadata of Job %s: %w", live.Name, err)
	}
	return nil
}

// evict deletes a Job of a deleted resource of the same kind and name that garbage
// collection has not reached yet, and refuses any other Job.
func (r *Runner) evict(ctx context.Context, owner client.Object, live *batchv1.Job) (State, error) {
	kind, err := apiutil.GVKForObject(owner, r.Scheme)
	if err != nil {
		return State{}, fmt.Errorf("finding the kind of the owner of Job %s: %w", live.Name, err)
	}
	controller := metav1.GetControllerOf(live)
	if controller == nil {
		return State{}, fmt.Errorf("job %s already exists and has no controller; rename or delete it: %w", live.Name, apply.ErrNotOwned)
	}
	controllerKind := schema.FromAPIVersionAndKind(controller.APIVersion, controller.Kind).GroupKind()
	if controllerKind != kind.GroupKind() || controller.Name != owner.GetName() {
		return State{}, fmt.Errorf("job %s already exists and is controlled by %s %s; rename or delete it: %w",
			live.Name, controller.Kind, controller.Name, apply.ErrNotOwned)
	}
	// The cache may never have had this Job, so reads that wait for it to see the
	// deletion would wait forever.
	return State{Waiting: "the Job of a deleted predecessor is being removed"},
		r.delete(ctx, live, metav1.DeletePropagationForeground, client.DisableReadYourWritesConsistency)
}

// isOurs reports whether the Job belongs to the owner. That includes a Job that has lost
// its owner reference but has the labels and a run key.
func isOurs(owner client.Object, live, desired *batchv1.Job) bool {
	if metav1.GetControllerOf(live) != nil {
		return metav1.IsControlledBy(live, owner)
	}
	return live.Annotations[RunKeyAnnotation] != "" && len(desired.Labels) > 0 && carries(live.Labels, desired.Labels)
}

func carries(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, found := labels[key]; !found || got != value {
			return false
		}
	}
	return true
}
