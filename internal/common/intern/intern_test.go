package intern

import (
	"reflect"
	"strconv"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	Metadata(first)
	Metadata(second)
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

// What is shared is read without a lock, which the race detector would report.
func TestAnObjectMayComeTwiceWhileOthersAreRead(t *testing.T) {
	first, second := pod("a"), pod("b")
	Metadata(first)
	Metadata(second)
	var wait sync.WaitGroup
	wait.Go(func() { Metadata(first) })
	wait.Go(func() {
		if diff := cmp.Diff(pod("b"), second.DeepCopy()); diff != "" {
			t.Errorf("the metadata has changed (-want +got):\n%s", diff)
		}
	})
	wait.Wait()
}

func TestWhatDiffersIsNotShared(t *testing.T) {
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
	Metadata(pod("a"))
	for what, edit := range change {
		got, want := pod("a"), pod("a")
		edit(got)
		edit(want)
		Metadata(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the metadata has changed (-want +got):\n%s", what, diff)
		}
	}
}

func TestWhatIsNotAskedForIsForgotten(t *testing.T) {
	var known table[string, *int]
	used, unused := known.share("used", new(int)), known.share("unused", new(int))
	for i := range 3 * limit {
		if known.share("used", new(int)) != used {
			t.Fatalf("forgotten after %d others although it is in use", i)
		}
		known.share(strconv.Itoa(i), new(int))
	}
	if known.share("unused", new(int)) == unused {
		t.Error("never forgotten")
	}
	if size := len(known.recent) + len(known.older); size > 2*limit {
		t.Errorf("%d values are known, want %d at most", size, 2*limit)
	}
}
