// Package intern lets equal parts of cached objects be in memory once: the children
// of one resource have the same labels and the same owner, and those of different
// resources were written by the same managers.
//
// What is shared must never be changed. Readers of a cache get copies.
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

// limit is how many values a table may have taken before it begins to forget those that
// have not been asked for since.
const limit = 4096

// table finds the first of equal values by a key. It keeps what was asked for lately, so
// that its size does not grow with what has come and gone. The zero value is ready for
// use, also by several goroutines.
type table[K comparable, V any] struct {
	mu            sync.Mutex
	recent, older map[K]V
}

// share returns the value that is known by the key, or v from now on.
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

// digest identifies what is too long for a key: nobody can find two texts with the same
// one.
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

// String returns a string that is equal to s.
func String(s string) string {
	if s == "" || len(s) > longest {
		return s
	}
	return stringTable.share(s, s)
}

// Fields returns a set of fields with the text.
func Fields(text string) *metav1.FieldsV1 {
	return fieldTable.share(digestOf(text), metav1.NewFieldsV1(text))
}

// Metadata shares the namespace, the labels, the owners, the names of the annotations,
// and who has written the object.
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
	// Those of an object that comes a second time are shared already.
	shared := slices.Clone(references)
	for i := range shared {
		owner := &shared[i]
		// Somebody else may have written anything into them.
		_, _ = fmt.Fprintf(&key, "%q %q %q %q %s %s\n", owner.APIVersion, owner.Kind, owner.Name, owner.UID,
			flag(owner.Controller), flag(owner.BlockOwnerDeletion))
		owner.APIVersion, owner.Kind, owner.Name = String(owner.APIVersion), String(owner.Kind), String(owner.Name)
		owner.UID = types.UID(String(string(owner.UID)))
	}
	return ownerTable.share(digestOf(key.String()), shared)
}

// Conditions shares what the conditions of different resources say.
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
