package controller

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func trim(t *testing.T, obj client.Object) {
	t.Helper()
	if _, err := Trim(obj); err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatComeWithTheOperatorAreInMemoryOnce(t *testing.T) {
	own := embedded()[readyFile]
	if own == "" {
		t.Fatalf("%s is not among the files", readyFile)
	}
	read := func() *corev1.ConfigMap {
		copied := string([]byte(own))
		return &corev1.ConfigMap{Data: map[string]string{readyFile: copied, "keystone.conf": "[DEFAULT]\n", startFile: "changed by hand"}}
	}
	cached := read()
	trim(t, cached)
	if diff := cmp.Diff(read(), cached); diff != "" {
		t.Errorf("the content has changed (-want +got):\n%s", diff)
	}
	if unsafe.StringData(cached.Data[readyFile]) != unsafe.StringData(own) {
		t.Errorf("%s has memory of its own", readyFile)
	}
}
