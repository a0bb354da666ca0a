// Package intern deduplicates equal parts of cached objects in memory: the children of
// one resource have the same labels and owner, and objects of different resources have
// the same field managers.
//
// Shared values must never be changed. Readers of a cache get copies.
package intern

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// limit is how many values a table takes before it drops those that were not used since.
const limit = 4096

// table maps a key to the first of equal values. It keeps recently used values, so that
// its size does not grow with objects that come and go. The zero value is ready for use,
// also by several goroutines.
type table[K comparable, V any] struct {
	mu            sync.Mutex
	recent, older map[K]V
}

// share returns the value stored for the key, and stores v if there is none.
func (t *table[K, V]) share(key K, v V) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.recent[key]; ok {
		return known
	}
	if t.recent == nil || len(t.recent) >= limit {
		t.recent, t.older = map[K]V{}, t.recent
	}
	if known, ok := t.older[key]; ok {
		v = known
	}
	t.recent[key] = v
	return v
}

// digest identifies a text that is too long for a key; collisions are infeasible.
type digest [16]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:len(digest{})])
}

var (
	stringTable table[string, string]
	labelTable  table[digest, map[string]string]
	ownerTable  table[digest, []metav1.OwnerReference]
	fieldTable  table[digest, *metav1.FieldsV1]
)

// longest is the length in bytes up to which strings are shared. Longer ones are rarely
// equal.
const longest = 256

// String returns a shared string that is equal to s.
func String(s string) string {
	if s == "" || len(s) > longest {
		return s
	}
	return stringTable.share(s, s)
}

// Fields returns a shared set of fields with the text.
func Fields(text string) *metav1.FieldsV1 {
	return fieldTable.share(digestOf(text), metav1.NewFieldsV1(text))
}

// Metadata shares the namespace, labels, owner references, annotation names and field
// managers of the object.
func Metadata(obj client.Object) {
	obj.SetNamespace(String(obj.GetNamespace()))
	obj.SetLabels(labelsOf(obj.GetLabels()))
	obj.SetOwnerReferences(owners(obj.GetOwnerReferences()))
	if annotations := obj.GetAnnotations(); annotations != nil {
		shared := make(map[string]string, len(annotations))
		for name, value := range annotations {
			shared[String(name)] = value
		}
		obj.SetAnnotations(shared)
	}
	written := obj.GetManagedFields()
	for i := range written {
		entry := &written[i]
		entry.Manager, entry.APIVersion = String(entry.Manager), String(entry.APIVersion)
		entry.Operation = metav1.ManagedFieldsOperationType(String(string(entry.Operation)))
	}
	obj.SetManagedFields(written)
}

func labelsOf(labels map[string]string) map[string]string {
	if len(labels) == 0 {
		return labels
	}
	var key strings.Builder
	shared := make(map[string]string, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		// Neither a name nor a value has line breaks.
		key.WriteString(name + "\n" + labels[name] + "\n")
		shared[String(name)] = String(labels[name])
	}
	return labelTable.share(digestOf(key.String()), shared)
}

func owners(references []metav1.OwnerReference) []metav1.OwnerReference {
	if len(references) == 0 {
		return references
	}
	var key strings.Builder
	// If the object was processed before, its references are shared already and must not
	// be changed.
	shared := slices.Clone(references)
	for i := range shared {
		owner := &shared[i]
		// Owner references may contain any text.
		_, _ = fmt.Fprintf(&key, "%q %q %q %q %s %s\n", owner.APIVersion, owner.Kind, owner.Name, owner.UID,
			flag(owner.Controller), flag(owner.BlockOwnerDeletion))
		owner.APIVersion, owner.Kind, owner.Name = String(owner.APIVersion), String(owner.Kind), String(owner.Name)
		owner.UID = types.UID(String(string(owner.UID)))
	}
	return ownerTable.share(digestOf(key.String()), shared)
}

// Conditions shares the texts of conditions between resources.
func Conditions(conditions []metav1.Condition) {
	for i := range conditions {
		c := &conditions[i]
		c.Type, c.Reason, c.Message = String(c.Type), String(c.Reason), String(c.Message)
	}
}

func flag(b *bool) string {
	if b == nil {
		return "unset"
	}
	return strconv.FormatBool(*b)
}
