package apply_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/c5c3/forge/internal/common/apply"
)

func controlledBy(apiVersion, kind, name string, uid types.UID) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "keystone",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true),
		}},
	}}
}

func TestOwnershipIsClassifiedByTheControllerReference(t *testing.T) {
	owner := &unstructured.Unstructured{}
	owner.SetAPIVersion("example.com/v2")
	owner.SetKind("Example")
	owner.SetName("name")
	owner.SetUID("new")
	onlyOwned := controlledBy("example.com/v2", "Example", "name", "new")
	onlyOwned.OwnerReferences[0].Controller = nil
	for what, test := range map[string]struct {
		live *corev1.Service
		want apply.Ownership
	}{
		"the resource itself":              {controlledBy("example.com/v2", "Example", "name", "new"), apply.Ours},
		"nobody":                           {&corev1.Service{}, apply.Orphan},
		"nobody, but with an owner":        {onlyOwned, apply.Orphan},
		"a namesake":                       {controlledBy("example.com/v2", "Example", "name", "old"), apply.Predecessors},
		"a namesake of an older version":   {controlledBy("example.com/v1", "Example", "name", "old"), apply.Predecessors},
		"another name":                     {controlledBy("example.com/v2", "Example", "other", "old"), apply.Foreign},
		"another kind of the name":         {controlledBy("example.com/v2", "Other", "name", "old"), apply.Foreign},
		"the kind and name of other group": {controlledBy("example.org/v2", "Example", "name", "old"), apply.Foreign},
	} {
		if got := apply.Classify(clientgoscheme.Scheme, owner, test.live); got != test.want {
			t.Errorf("controlled by %s: %d, want %d", what, got, test.want)
		}
	}
}

func TestARefusalNamesTheObjectAndWhoControlsIt(t *testing.T) {
	for want, live := range map[string]*corev1.Service{
		"Service keystone already exists and is controlled by Example other; rename or delete it: ": controlledBy(
			"example.com/v2", "Example", "other", "other"),
		"Service keystone already exists and has no controller; rename or delete it: ": {
			ObjectMeta: metav1.ObjectMeta{Name: "keystone"},
		},
	} {
		if err := apply.Refuse(live); !errors.Is(err, apply.ErrNotOwned) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %q, want %q and %v", err, want, apply.ErrNotOwned)
		}
	}
}
