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

// CheckPriorityClass checks that the PriorityClass exists when spec.priorityClassName
// changes. The later deletion of a class does not block other changes. Both names are nil
// if the field is not set; before is also nil on creation.
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
