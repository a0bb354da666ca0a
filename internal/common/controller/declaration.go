package controller

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/intern"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
)

// Declaration is a [Controller] of any kind, as far as its operator needs to know it before
// there is a manager.
type Declaration interface {
	// Watched returns every kind that the controller reads from the cache.
	Watched() []Watched
	register(*runtime.Scheme)
	trim(client.Object)
}

// Watched is a kind that a controller watches.
type Watched struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Written reports whether the operator creates and changes objects of the kind.
	Written bool
	// manager is the field manager by which it applies them, "" if it does not.
	manager string
}

// Watched implements [Declaration].
func (c Controller[R, T, S]) Watched() []Watched {
	watched := make([]Watched, 0, len(c.Kinds)+1)
	for _, kind := range append([]Kind{{Object: c.For, Concerns: Every}}, c.Kinds...) {
		w := Watched{Object: kind.Object, Written: kind.written()}
		if w.Written {
			w.manager = c.FieldManager
		}
		watched = append(watched, w)
	}
	return watched
}

func (c Controller[R, T, S]) register(scheme *runtime.Scheme) {
	utilruntime.Must(c.AddToScheme(scheme))
	for _, kind := range c.Kinds {
		if kind.AddToScheme != nil {
			utilruntime.Must(kind.AddToScheme(scheme))
		}
	}
}

func (c Controller[R, T, S]) trim(obj client.Object) {
	if c.Trim != nil {
		c.Trim(obj)
	}
}

// Scheme registers every type that the controllers read or write.
func Scheme(controllers ...Declaration) *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	for _, c := range controllers {
		c.register(scheme)
	}
	return scheme
}

// CacheTransform drops fields that no pass of the controllers reads. Who wrote which field is
// read only of what they apply.
func CacheTransform(controllers ...Declaration) cache.TransformFunc {
	managers := map[reflect.Type]string{}
	for _, c := range controllers {
		for _, kind := range c.Watched() {
			if kind.manager != "" {
				managers[reflect.TypeOf(kind.Object)] = kind.manager
			}
		}
	}
	return func(obj any) (any, error) {
		cached, known := obj.(client.Object)
		if !known {
			return obj, nil
		}
		if err := condense(cached, managers[reflect.TypeOf(obj)]); err != nil {
			return nil, err
		}
		if resource, has := obj.(reconcile.Object); has {
			// A decoded list may have room for twice as many.
			resource.SetConditions(slices.Clone(resource.GetConditions()))
		}
		for _, c := range controllers {
			c.trim(cached)
		}
		intern.Object(cached)
		return obj, nil
	}
}

func condense(obj client.Object, manager string) error {
	if secret, ok := obj.(*corev1.Secret); ok {
		// Secrets are updated as a whole, so their data must stay: a missing key would be
		// removed. The API server keeps managed fields when an update omits them.
		secret.ManagedFields = nil
		secrets.Condense(secret)
		return nil
	}
	if manager == "" {
		obj.SetManagedFields(nil)
		return nil
	}
	return apply.Condense(obj, manager)
}
