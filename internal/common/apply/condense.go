package apply

import (
	"encoding/base64"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/intern"
)

// condensedType begins the type of a record whose fields are shared with other objects
// and which has the digests of their values beside them.
const condensedType = "condensed:"

// ownUID stands for the UID of the controller in shared records. Apart from it those of
// different resources are the same.
const ownUID = "<uid of the controller>"

// Condense prepares an object that fieldManager applies for a cache. Of the records of who
// wrote which field it keeps those of the manager, and in them digests of the values:
// [Converged] then needs the fields themselves no longer, so that the caller may drop those
// that nothing else reads. An object that was condensed before stays as it is.
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

// condensedValues returns the values that a record has beside its fields, and false if it
// has none.
func condensedValues(entry *metav1.ManagedFieldsEntry) (values, bool) {
	text, condensed := strings.CutPrefix(entry.FieldsType, condensedType)
	if !condensed {
		return "", false
	}
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	return values(decoded), err == nil
}

// recorded returns the fields of a record as the API server has written them.
func recorded(live client.Object, entry *metav1.ManagedFieldsEntry) string {
	text := entry.FieldsV1.GetRawString()
	if _, condensed := condensedValues(entry); !condensed {
		return text
	}
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil {
		text = strings.ReplaceAll(text, ownUID, string(controller.UID))
	}
	return text
}
