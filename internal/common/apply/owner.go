package apply

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// ErrNotOwned is wrapped by errors about an object whose name we need but
// which has another owner. It is never adopted.
var ErrNotOwned = errors.New("object is not controlled by this resource")

// ErrPredecessor is wrapped by errors about an object that a deleted resource
// of the same kind and name left behind. Garbage collection removes it.
var ErrPredecessor = errors.New("object of a deleted predecessor is being removed")

// Ownership says to whom an existing object belongs, as a resource sees it that needs the
// name of the object.
type Ownership int

const (
	// Foreign is an object that another resource controls.
	Foreign Ownership = iota
	// Ours is an object that the resource controls.
	Ours
	// Orphan is an object without a controller. It may have lost the reference to the
	// resource, or never have had any: only labels, annotations or field managers tell.
	Orphan
	// Predecessors is an object of a deleted resource of the same kind and name that
	// garbage collection has not removed yet.
	Predecessors
)

// Classify returns to whom the live object belongs as the owner sees it. The scheme knows
// the kind of the owner; one of an unknown kind has no predecessors.
func Classify(scheme *runtime.Scheme, owner, live client.Object) Ownership {
	controller := metav1.GetControllerOfNoCopy(live)
	switch {
	case controller == nil:
		return Orphan
	case controller.UID == owner.GetUID():
		return Ours
	case controller.Name != owner.GetName():
		return Foreign
	}
	kind, err := apiutil.GVKForObject(owner, scheme)
	if err == nil && schema.FromAPIVersionAndKind(controller.APIVersion, controller.Kind).GroupKind() == kind.GroupKind() {
		return Predecessors
	}
	return Foreign
}

// Refuse returns the error about a foreign object, which wraps [ErrNotOwned].
func Refuse(live client.Object) error {
	holder := "has no controller"
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil {
		holder = fmt.Sprintf("is controlled by %s %s", controller.Kind, controller.Name)
	}
	return fmt.Errorf("%s already exists and %s; rename or delete it: %w", described(live), holder, ErrNotOwned)
}

// checkOwner refuses objects that the owner must not apply to. An object without a
// controller that this manager once applied has only lost its reference, which is
// repaired.
func checkOwner(scheme *runtime.Scheme, owner, live client.Object, fieldManager string) error {
	switch ownership := Classify(scheme, owner, live); {
	case ownership == Ours, ownership == Orphan && managedBy(live, fieldManager):
		return nil
	case ownership == Predecessors:
		return fmt.Errorf("%s: %w", described(live), ErrPredecessor)
	}
	return Refuse(live)
}
