package admission

import (
	"context"
	"fmt"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CheckPriorityClass asks for the PriorityClass that spec.priorityClassName comes to
// name. One that was deleted later holds up no change of something else. Both names are
// nil when the field is not set; before is nil on creation, too.
func CheckPriorityClass(ctx context.Context, reader client.Reader, before, name *string) field.ErrorList {
	if name == nil || *name == "" || equality.Semantic.DeepEqual(before, name) {
		return nil
	}
	path := field.NewPath("spec", "priorityClassName")
	err := reader.Get(ctx, client.ObjectKey{Name: *name}, &schedulingv1.PriorityClass{})
	switch {
	case apierrors.IsNotFound(err):
		return field.ErrorList{field.NotFound(path, *name)}
	case err != nil:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("reading PriorityClass %q: %w", *name, err))}
	}
	return nil
}
