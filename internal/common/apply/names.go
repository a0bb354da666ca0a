package apply

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// described returns the kind and the name of an object for messages. What a resource
// writes is in its own namespace, which messages about it need not repeat.
func described(obj client.Object) string { return kindOf(obj) + " " + obj.GetName() }

// kindOf returns the kind of an object. Objects that were built in code or read by a typed
// client often do not carry it; then the name of the Go type is the kind.
func kindOf(obj client.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.Indirect(reflect.ValueOf(obj)).Type().Name()
}

// failed says what was being done to which object, nil if err is nil.
func failed(doing, object string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, object, err)
}
