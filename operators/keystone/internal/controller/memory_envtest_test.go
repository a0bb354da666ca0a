//go:build integration

package controller_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

// cachedBytes is the maximum size of a Keystone and its children in the cache, without
// Pods. Without trimming and sharing it is three times that.
const cachedBytes = 47 << 10

// No t.Parallel: other tests would use memory at the same time.
func TestAKeystoneTakesLittleMemoryInTheCache(t *testing.T) {
	c, k, operator := converged(t, modes[0])
	operator.Stop()
	objects := []client.Object{k}
	for _, child := range children(t, c, k) {
		objects = append(objects, whole(t, c, child.GroupVersionKind(), client.ObjectKeyFromObject(&child)))
	}
	// Once before, for what is made at the first use.
	cacheCopies(t, k, k, 1)
	// All at once: what one kind shares with another is counted once.
	total := cachedSize(t, k, objects...)
	t.Logf("%d bytes", total)
	if total <= cachedBytes {
		return
	}
	byKind := map[string]int{}
	for _, obj := range objects {
		byKind[fmt.Sprintf("%T", obj)] += cachedSize(t, k, obj)
	}
	t.Errorf("a Keystone takes %d bytes in the cache, want %d at most: %v", total, cachedBytes, byKind)
}

// cachedSize returns the number of bytes that the objects of one Keystone take in the
// cache.
func cachedSize(t *testing.T, k *keystonev1alpha1.Keystone, objects ...client.Object) int {
	t.Helper()
	const keystones = 100
	cache := make([][]any, len(objects))
	before := heap()
	for i, obj := range objects {
		cache[i] = cacheCopies(t, obj, k, keystones)
	}
	size := (heap() - before) / keystones
	runtime.KeepAlive(cache)
	return size
}

// whole reads an object as the cache would.
func whole(t *testing.T, c client.Client, kind schema.GroupVersionKind, key client.ObjectKey) client.Object {
	t.Helper()
	made, err := c.Scheme().New(kind)
	if err != nil {
		t.Fatal(err)
	}
	obj, ok := made.(client.Object)
	if !ok {
		t.Fatalf("%T is no object", made)
	}
	if err := c.Get(t.Context(), key, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// cacheCopies returns copies of the object that belong to as many Keystones, as the cache
// has them.
func cacheCopies(t *testing.T, obj client.Object, k *keystonev1alpha1.Keystone, copies int) []any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	cached := make([]any, copies)
	for i := range cached {
		name := fmt.Sprintf("%s-%04d", k.Name, i)
		uid := fmt.Sprintf("%04d%s", i, k.UID[4:])
		// The names of everything that belongs to a Keystone differ, too.
		other := strings.NewReplacer(string(k.UID), uid, k.Name+"-", name+"-", `"name":"`+k.Name+`"`, `"name":"`+name+`"`,
			`instance":"`+k.Name+`"`, `instance":"`+name+`"`).Replace(string(text))
		into := reflect.New(reflect.TypeOf(obj).Elem()).Interface()
		if err := json.Unmarshal([]byte(other), into); err != nil {
			t.Fatal(err)
		}
		if cached[i], err = controller.Controller.Trim()(into); err != nil {
			t.Fatal(err)
		}
	}
	return cached
}

// heap returns the number of bytes in use.
func heap() int {
	var stats runtime.MemStats
	// Objects with a finaliser, or in a pool, are only collected by the second run.
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc) //nolint:gosec // No heap is that large.
}

// Secrets are the only children that are updated as a whole.
func TestAnUpdateOfATrimmedSecretKeepsItsManagedFields(t *testing.T) {
	c, namespace := newNamespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"}, Data: map[string][]byte{"0": []byte("a")}}
	if err := c.Create(t.Context(), secret, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	if _, err := controller.Controller.Trim()(secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["1"] = []byte("b")
	if err := c.Update(t.Context(), secret, client.FieldOwner("operator")); err != nil {
		t.Fatal(err)
	}
	wrote := map[string]string{}
	for _, entry := range secret.ManagedFields {
		wrote[entry.Manager] = entry.FieldsV1.GetRawString()
	}
	if !strings.Contains(wrote["somebody"], `"f:0"`) || !strings.Contains(wrote["operator"], `"f:1"`) {
		t.Errorf("the API server knows %v", wrote)
	}
}
