package apply

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// desiredFields returns what an apply of obj sends: without status and server-side
// metadata, and without the nulls that Go types emit for unset timestamps.
func desiredFields(obj client.Object) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("converting %s: %w", described(obj), err)
	}
	delete(fields, "status")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
			delete(metadata, field)
		}
	}
	dropNulls(fields)
	return fields, nil
}

// dropIdentity removes the fields that name the object or its version; managedFields never
// lists them.
func dropIdentity(fields map[string]any) {
	delete(fields, "apiVersion")
	delete(fields, "kind")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "name")
		delete(metadata, "namespace")
		delete(metadata, "resourceVersion")
		if len(metadata) == 0 {
			delete(fields, "metadata")
		}
	}
}

func dropNulls(node any) {
	switch typed := node.(type) {
	case map[string]any:
		for key, child := range typed {
			if child == nil {
				delete(typed, key)
				continue
			}
			dropNulls(child)
		}
	case []any:
		for _, child := range typed {
			dropNulls(child)
		}
	}
}
