package types

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatIsProtectedIsNotDeleted(t *testing.T) {
	for value, protected := range map[string]bool{"true": true, "false": false, "": false, "yes": false} {
		obj := &metav1.ObjectMeta{Name: "keystone", Annotations: map[string]string{AnnotationDeletionProtection: value}}
		err := CheckDeletion(schema.GroupResource{Resource: "keystones"}, obj)
		if apierrors.IsForbidden(err) != protected {
			t.Errorf("%q: got %v", value, err)
		}
		if protected && !strings.Contains(err.Error(), "remove the annotation forge.c5c3.io/deletion-protection") {
			t.Errorf("it does not say what to do: %v", err)
		}
	}
	if err := CheckDeletion(schema.GroupResource{}, &metav1.ObjectMeta{}); err != nil {
		t.Errorf("without annotations: %v", err)
	}
}
