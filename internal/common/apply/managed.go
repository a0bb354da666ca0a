package apply

import (
	"encoding/base64"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// condensedType is the prefix of the type of a condensed managedFields entry. Its fields
// are shared with other objects, and the digests of their values follow the prefix.
const condensedType = "condensed:"

// ownUID replaces the UID of the controller in shared entries. Without it, the entries of
// different resources are identical.
const ownUID = "<uid of the controller>"

func managedBy(live client.Object, fieldManager string) bool {
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == fieldManager {
			return true
		}
	}
	return false
}

// Owns reports whether fieldManager applied the field at the path of names.
func Owns(live client.Object, fieldManager, apiVersion string, names ...string) (bool, error) {
	entry := applied(live, fieldManager, apiVersion)
	if entry == nil {
		return false, nil
	}
	owned, err := fieldsOf(live, entry)
	if err != nil {
		return false, err
	}
	path := make(fieldpath.Path, 0, len(names))
	for _, name := range names {
		path = append(path, fieldpath.FieldNameElement(name))
	}
	return owned.Has(path), nil
}

// applied returns the managedFields entry of fieldManager's applies. It returns nil if
// the manager never applied this object, or did so at another API version.
func applied(live client.Object, fieldManager, apiVersion string) *metav1.ManagedFieldsEntry {
	written := live.GetManagedFields()
	for i := range written {
		if entry := &written[i]; isApplied(entry, fieldManager) && entry.APIVersion == apiVersion {
			return entry
		}
	}
	return nil
}

func isApplied(entry *metav1.ManagedFieldsEntry, fieldManager string) bool {
	return entry.Manager == fieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == "" && entry.FieldsV1 != nil
}

// fieldsOf returns the set of fields of an entry.
func fieldsOf(live client.Object, entry *metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if err := set.FromJSON(strings.NewReader(recorded(live, entry))); err != nil {
		return nil, fmt.Errorf("reading the managed fields of %s: %w", described(live), err)
	}
	return set, nil
}

// condensedValues returns the values of a condensed entry, and reports whether the entry
// is condensed.
func condensedValues(entry *metav1.ManagedFieldsEntry) (values, bool) {
	text, condensed := strings.CutPrefix(entry.FieldsType, condensedType)
	if !condensed {
		return "", false
	}
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	return values(decoded), err == nil
}

// recorded returns the fields of an entry as the API server wrote them.
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
