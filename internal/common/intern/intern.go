// Package intern deduplicates equal parts of cached objects in memory: the children of
// one resource have the same labels and owner, and objects of different resources have
// the same field managers.
//
// Shared values must never be changed. Readers of a cache get copies.
package intern

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
	"weak"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/digest"
)

// sweepAfter is the number of values from which on a table looks for those that are gone.
const sweepAfter = 1024

// table finds the first of equal values by a digest, as long as something else refers to
// it: its size follows the number of values in use, however many resources there are, and
// whatever has come and gone. The zero value is ready for use, also by several goroutines.
type table[V any] struct {
	mu    sync.Mutex
	known map[digest.Digest]weak.Pointer[V]
	// sweepAt is the size at which the table forgets the values that are gone.
	sweepAt int
}

// share returns the value that is known by the key, or else a new one, which is known from
// now on.
func (t *table[V]) share(key digest.Digest, create func() *V) *V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.known[key].Value(); known != nil {
		return known
	}
	if len(t.known) >= t.sweepAt {
		maps.DeleteFunc(t.known, func(_ digest.Digest, known weak.Pointer[V]) bool { return known.Value() == nil })
		t.sweepAt = max(sweepAfter, 2*len(t.known))
	}
	if t.known == nil {
		t.known = map[digest.Digest]weak.Pointer[V]{}
	}
	v := create()
	t.known[key] = weak.Make(v)
	return v
}

// A string, a map and a list are known by the address of what they hold, which lives as
// long as one of them is in use.
var (
	stringTable table[byte]
	labelTable  table[byte]
	ownerTable  table[metav1.OwnerReference]
	fieldTable  table[metav1.FieldsV1]
	imageTable  table[corev1.Container]
)

// longest is the length in bytes up to which strings are shared. Longer ones are rarely
// equal.
const longest = 256

// blockSize is the size in bytes from which on the runtime gives an allocation a block of
// its own (https://pkg.go.dev/runtime#AddCleanup).
const blockSize = 16

// String returns a string that is equal to s.
func String(s string) string {
	if s == "" || len(s) > longest {
		return s
	}
	return unsafe.String(stringTable.share(digest.Of([]byte(s)), func() *byte {
		// The runtime puts several short texts into one block, where none is gone before all
		// are: this one has its own.
		text := make([]byte, max(len(s), blockSize))
		copy(text, s)
		return &text[0]
	}), len(s))
}

// Fields returns a shared set of fields with the text.
func Fields(text string) *metav1.FieldsV1 {
	return fieldTable.share(digest.Of([]byte(text)), func() *metav1.FieldsV1 { return metav1.NewFieldsV1(text) })
}

// Images returns the names and images of the containers as a shared list without anything
// else. The type of a container is large, whatever it holds.
func Images(containers []corev1.Container) []corev1.Container {
	if len(containers) == 0 {
		return nil
	}
	var key strings.Builder
	for i := range containers {
		// An image may be any text.
		_, _ = fmt.Fprintf(&key, "%q %q\n", containers[i].Name, containers[i].Image)
	}
	first := imageTable.share(digest.Of([]byte(key.String())), func() *corev1.Container {
		images := make([]corev1.Container, len(containers))
		for i := range containers {
			images[i] = corev1.Container{Name: strings.Clone(containers[i].Name), Image: strings.Clone(containers[i].Image)}
		}
		return &images[0]
	})
	return unsafe.Slice(first, len(containers))
}

// Object shares the metadata of the object, and its conditions if it has any.
func Object(obj client.Object) {
	metadata(obj)
	if resource, conditioned := obj.(interface{ GetConditions() []metav1.Condition }); conditioned {
		conditionsOf(obj.GetName(), resource.GetConditions())
	}
}

// metadata shares the namespace, labels, owner references, annotation names and field
// managers of the object.
func metadata(obj client.Object) {
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
	// A map is a pointer to what it holds.
	held := labelTable.share(digest.Of([]byte(key.String())), func() *byte { return (*byte)(reflect.ValueOf(shared).UnsafePointer()) })
	return *(*map[string]string)(unsafe.Pointer(&held))
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
	first := ownerTable.share(digest.Of([]byte(key.String())), func() *metav1.OwnerReference { return &shared[0] })
	return unsafe.Slice(first, len(shared))
}

// conditionsOf shares what the conditions of different resources say. A message with the name
// of its resource is not said of any other.
func conditionsOf(resource string, conditions []metav1.Condition) {
	for i := range conditions {
		c := &conditions[i]
		c.Type, c.Reason = String(c.Type), String(c.Reason)
		if !strings.Contains(c.Message, resource) {
			c.Message = String(c.Message)
		}
	}
}

func flag(b *bool) string {
	if b == nil {
		return "unset"
	}
	return strconv.FormatBool(*b)
}
