package apply

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Converged reports whether applying desired with fieldManager would leave
// live as it is.
func Converged(live, desired client.Object, fieldManager string) (bool, error) {
	entry := applied(live, fieldManager, desired.GetObjectKind().GroupVersionKind().GroupVersion().String())
	if entry == nil {
		return false, nil
	}
	owned, err := fieldsOf(live, entry)
	if err != nil {
		return false, err
	}
	has, condensed := condensedValues(entry)
	if !condensed {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
		if err != nil {
			return false, fmt.Errorf("converting %s: %w", kindOf(live), err)
		}
		has = valuesOf(owned, fields)
	}
	wanted, err := desiredFields(desired)
	if err != nil {
		return false, err
	}
	dropIdentity(wanted)
	return wants(owned, wanted, has), nil
}
