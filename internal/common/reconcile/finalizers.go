package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func (r *Reconciler[T, S]) addFinalizers(ctx context.Context, obj T) error {
	original, added := apply.Copy(obj), false
	for _, finalizer := range r.Finalizers {
		added = controllerutil.AddFinalizer(obj, finalizer.Name) || added
	}
	if !added {
		return nil
	}
	return apply.Merge(ctx, r.Client, original, obj, "adding the finalizers of")
}

// finalize runs the deletion stages in order. A stage that is not done keeps
// its finalizer and blocks the later ones; the status says why.
func (p *pass[T, S]) finalize(ctx context.Context) (ctrl.Result, error) {
	asleep := p.wake(ctx)
	finalizers, scope := slices.Clone(p.obj.GetFinalizers()), p.Scope(p.obj)
	released := false
	for _, stage := range p.Finalizers {
		if !controllerutil.ContainsFinalizer(p.obj, stage.Name) {
			continue
		}
		results := Pipeline[S]{stage.Step}.run(ctx, scope, nil)
		p.results = append(p.results, results...)
		if !results[0].outcome.IsDone() {
			break
		}
		controllerutil.RemoveFinalizer(p.obj, stage.Name)
		released = true
	}
	if released {
		if err := p.release(ctx, finalizers); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
	}
	// Not before the patch: a pass over an outdated copy would emit them again.
	p.emitStepEvents(ctx)
	if released {
		if len(p.obj.GetFinalizers()) == 0 {
			p.forget(client.ObjectKeyFromObject(p.obj))
			return ctrl.Result{}, nil
		}
	}
	last := p.results[max(len(p.results)-1, 0):]
	if len(last) == 0 || last[0].outcome.IsDone() {
		return ctrl.Result{}, nil
	}
	generation, conditions := p.obj.GetGeneration(), p.obj.GetConditions()
	record(&conditions, generation, last)
	message := "Deletion waits: " + last[0].outcome.message
	if asleep != nil {
		message += "; starting what hibernates failed: " + asleep.Error()
	}
	setCondition(&conditions, generation, vocabulary.ConditionReady, metav1.ConditionFalse, vocabulary.ReasonDeleting, message)
	setCondition(&conditions, generation, vocabulary.ConditionReconciling, metav1.ConditionTrue, vocabulary.ReasonDeleting, message)
	meta.RemoveStatusCondition(&conditions, vocabulary.ConditionStalled)
	p.obj.SetConditions(conditions)
	return p.finishQuietly(ctx)
}

// release removes the former finalizers that are no longer set. It only conflicts with
// changes of the finalizers themselves: a repeated pass would no longer find what a stage
// has cleaned up.
func (p *pass[T, S]) release(ctx context.Context, former []string) error {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value,omitempty"`
	}
	var operations []operation
	// The last one first, so that the indexes of the others stay valid.
	for i, name := range slices.Backward(former) {
		if path := fmt.Sprintf("/metadata/finalizers/%d", i); !slices.Contains(p.obj.GetFinalizers(), name) {
			operations = append(operations, operation{"test", path, name}, operation{"remove", path, ""})
		}
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return fmt.Errorf("writing the patch of the finalizers: %w", err)
	}
	err = apply.Patch(ctx, p.Client, p.obj, client.RawPatch(types.JSONPatchType, patch), "removing the finalizers of")
	if apierrors.IsInvalid(err) {
		return apierrors.NewConflict(schema.GroupResource{Resource: "finalizers"}, p.obj.GetName(), err)
	}
	return err
}
