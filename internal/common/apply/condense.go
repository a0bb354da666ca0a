package apply

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/intern"
)

// Condense prepares an object that fieldManager applies for the cache. It keeps only the
// managedFields entries of that manager, and adds digests of the values to them.
// [Converged] then no longer needs the fields themselves, so the caller may drop those
// that nothing else reads. An object that is already condensed is unchanged.
func Condense(obj client.Object, fieldManager string) error {
	var own []metav1.ManagedFieldsEntry
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager != fieldManager {
			continue
		}
		if err := condense(obj, &entry); err != nil {
			return err
		}
		own = append(own, entry)
	}
	obj.SetManagedFields(own)
	return nil
}

func condense(obj client.Object, entry *metav1.ManagedFieldsEntry) error {
	if _, before := condensedValues(entry); before || !isApplied(entry, entry.Manager) {
		return nil
	}
	owned, err := fieldsOf(obj, entry)
	if err != nil {
		return err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return fmt.Errorf("converting %T %s: %w", obj, client.ObjectKeyFromObject(obj), err)
	}
	text := entry.FieldsV1.GetRawString()
	if controller := metav1.GetControllerOfNoCopy(obj); controller != nil && controller.UID != "" {
		text = strings.ReplaceAll(text, string(controller.UID), ownUID)
	}
	entry.FieldsType, entry.FieldsV1 = condensedType+valuesOf(owned, fields).text(), intern.Fields(text)
	return nil
}
