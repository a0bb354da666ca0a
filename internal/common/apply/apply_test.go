package apply_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/apply"
)

func controlledBy(apiVersion, kind, name string, uid types.UID) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{
		APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true),
	}}}}
}

func TestOnlyTheObjectsOfANamesakeThatIsGoneAreAPredecessors(t *testing.T) {
	ours := controlledBy("example.com/v2", "Example", "name", "new")
	for what, test := range map[string]struct {
		live *corev1.Service
		want bool
	}{
		"a namesake":                   {controlledBy("example.com/v2", "Example", "name", "old"), true},
		"one of an older API version":  {controlledBy("example.com/v1", "Example", "name", "old"), true},
		"the resource itself":          {controlledBy("example.com/v2", "Example", "name", "new"), false},
		"another name":                 {controlledBy("example.com/v2", "Example", "other", "old"), false},
		"another kind":                 {controlledBy("example.com/v2", "Other", "name", "old"), false},
		"the same kind of other group": {controlledBy("example.org/v2", "Example", "name", "old"), false},
		"nobody":                       {&corev1.Service{}, false},
	} {
		if got := apply.IsPredecessors(ours, test.live); got != test.want {
			t.Errorf("controlled by %s: %t, want %t", what, got, test.want)
		}
	}
}
