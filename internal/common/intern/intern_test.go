package intern

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: string([]byte("openstack")), Labels: map[string]string{"app": "keystone", "instance": "one"},
		Annotations:     map[string]string{"hash": name},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "one", UID: "u", Controller: ptr.To(true)}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", FieldsV1: metav1.NewFieldsV1("{}")}},
	}}
}

func TestEqualMetadataIsInMemoryOnceAndStaysTheSame(t *testing.T) {
	first, second := pod("a"), pod("b")
	metadata(first)
	metadata(second)
	for _, got := range []*corev1.Pod{first, second} {
		if diff := cmp.Diff(pod(got.Name), got); diff != "" {
			t.Errorf("the metadata has changed (-want +got):\n%s", diff)
		}
	}
	if unsafe.StringData(first.Namespace) != unsafe.StringData(second.Namespace) {
		t.Error("each has the namespace for itself")
	}
	if &first.OwnerReferences[0] != &second.OwnerReferences[0] {
		t.Error("each has the owner for itself")
	}
	if reflect.ValueOf(first.Labels).Pointer() != reflect.ValueOf(second.Labels).Pointer() {
		t.Error("each has the labels for itself")
	}
}

func TestEqualImagesAreInMemoryOnce(t *testing.T) {
	containers := func(image string) []corev1.Container {
		return []corev1.Container{{Name: "api", Image: image, Command: []string{image}}, {Name: "log", Image: "log"}}
	}
	first, second, other := Images(containers("v1")), Images(containers("v1")), Images(containers("v2"))
	if &first[0] != &second[0] {
		t.Error("each has the images for itself")
	}
	for image, got := range map[string][]corev1.Container{"v1": first, "v2": other} {
		if diff := cmp.Diff([]corev1.Container{{Name: "api", Image: image}, {Name: "log", Image: "log"}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", image, diff)
		}
	}
	if got := Images(nil); got != nil {
		t.Errorf("%v of no containers", got)
	}
}

// What is shared is read without a lock, which the race detector would report.
func TestInterningAgainDoesNotRaceWithReaders(t *testing.T) {
	first, second := pod("a"), pod("b")
	metadata(first)
	metadata(second)
	var wait sync.WaitGroup
	wait.Go(func() { metadata(first) })
	wait.Go(func() {
		if diff := cmp.Diff(pod("b"), second.DeepCopy()); diff != "" {
			t.Errorf("the metadata has changed (-want +got):\n%s", diff)
		}
	})
	wait.Wait()
}

func TestDifferentMetadataIsNotShared(t *testing.T) {
	change := map[string]func(*corev1.Pod){
		"another value of a label": func(p *corev1.Pod) { p.Labels["instance"] = "two" },
		"one label more":           func(p *corev1.Pod) { p.Labels["more"] = "" },
		"another owner":            func(p *corev1.Pod) { p.OwnerReferences[0].UID = "v" },
		"an owner that does not control": func(p *corev1.Pod) {
			p.OwnerReferences[0].Controller = ptr.To(false)
		},
		"two owners": func(p *corev1.Pod) { p.OwnerReferences = append(p.OwnerReferences, p.OwnerReferences[0]) },
		"an owner whose name looks like more than one": func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = `ReplicaSet" "one`, ""
		},
	}
	metadata(pod("a"))
	for what, edit := range change {
		got, want := pod("a"), pod("a")
		edit(got)
		edit(want)
		metadata(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the metadata has changed (-want +got):\n%s", what, diff)
		}
	}
}

// children are what informers bring of many resources: kind by kind, each of them in a
// copy of its own.
func children(kinds, resources int) []*corev1.Pod {
	var all []*corev1.Pod
	for kind := range kinds {
		for resource := range resources {
			name := "keystone-" + strconv.Itoa(resource)
			child := pod(name + "-" + strconv.Itoa(kind))
			child.Namespace = "ns-of-" + name
			// Two kinds have the same labels, with others between them.
			child.Labels = map[string]string{"instance": name, "component": "part-" + strconv.Itoa(kind%max(1, kinds/2))}
			child.OwnerReferences[0].Name, child.OwnerReferences[0].UID = name, types.UID("uid-of-"+name)
			child.ManagedFields[0].FieldsV1 = Fields(`{"f:spec":` + strconv.Itoa(kind) + `}`)
			all = append(all, child)
		}
	}
	return all
}

func TestChildrenOfManyResourcesShareEqualMetadata(t *testing.T) {
	const kinds, resources = 10, 5000
	distinct := map[string]map[uintptr]bool{"namespaces": {}, "labels": {}, "values of labels": {}, "owners": {}, "fields": {}}
	text := func(s string) uintptr { return reflect.ValueOf(unsafe.StringData(s)).Pointer() }
	all := children(kinds, resources)
	for _, child := range all {
		metadata(child)
		for what, pointer := range map[string]uintptr{
			"namespaces": text(child.Namespace), "labels": reflect.ValueOf(child.Labels).Pointer(),
			"values of labels": text(child.Labels["instance"]), "owners": reflect.ValueOf(child.OwnerReferences).Pointer(),
			"fields": reflect.ValueOf(child.ManagedFields[0].FieldsV1).Pointer(),
		} {
			distinct[what][pointer] = true
		}
	}
	for what, want := range map[string]int{
		"namespaces": resources, "labels": kinds / 2 * resources, "values of labels": resources, "owners": resources, "fields": kinds,
	} {
		if got := len(distinct[what]); got != want {
			t.Errorf("%d %s are in memory, want %d", got, what, want)
		}
	}
	runtime.KeepAlive(all)
}

func TestUnusedInternedValuesAreCollected(t *testing.T) {
	const batch = 2000
	for range 10 {
		for _, child := range children(1, batch) {
			child.Name += strconv.Itoa(int(rand.Int64()))
			child.Labels["run"], child.OwnerReferences[0].UID = child.Name, types.UID(child.Name)
			child.ManagedFields[0].FieldsV1 = Fields(child.Name)
			metadata(child)
		}
		runtime.GC()
	}
	for what, size := range map[string]int{
		"strings": len(stringTable.known), "labels": len(labelTable.known), "owners": len(ownerTable.known), "fields": len(fieldTable.known),
	} {
		// A table is swept when it has doubled; a batch brings three strings for each child.
		if size > 3*3*batch {
			t.Errorf("%d %s are known after %d batches of %d, all gone", size, what, 10, batch)
		}
	}
}

func TestAMessageThatNamesItsResourceIsNotShared(t *testing.T) {
	conditions := func() []metav1.Condition {
		return []metav1.Condition{
			{Type: "Ready", Reason: "AllReady", Message: strings.Clone("Everything is ready")},
			{Type: "Ready", Reason: "AllReady", Message: strings.Clone("http://one.openstack.svc answers")},
		}
	}
	first, second := conditions(), conditions()
	conditionsOf("one", first)
	conditionsOf("one", second)
	if diff := cmp.Diff(conditions(), first); diff != "" {
		t.Errorf("the conditions have changed (-want +got):\n%s", diff)
	}
	for i, want := range []bool{true, false} {
		if got := unsafe.StringData(first[i].Message) == unsafe.StringData(second[i].Message); got != want {
			t.Errorf("%q is shared: %t, want %t", first[i].Message, got, want)
		}
		if unsafe.StringData(first[i].Reason) != unsafe.StringData(second[i].Reason) {
			t.Error("each has the reason for itself")
		}
	}
}
