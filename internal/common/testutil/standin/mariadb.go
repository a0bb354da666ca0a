package standin

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// MariaDB simulates mariadb-operator for its kinds MariaDB, Database, User and
// Grant: all become ready, and the last three have a finalizer like the real ones.
type MariaDB struct {
	kinds map[string]*conditioned

	mu      sync.Mutex
	dropped map[string][]string
}

// NewMariaDB returns a stand-in for [Run].
func NewMariaDB() *MariaDB {
	m := &MariaDB{kinds: map[string]*conditioned{}, dropped: map[string][]string{}}
	for kind, finalizer := range map[string]string{
		"MariaDB":  "",
		"Database": "database.k8s.mariadb.com/finalizer",
		"User":     "user.k8s.mariadb.com/finalizer",
		"Grant":    "grant.k8s.mariadb.com/finalizer",
	} {
		m.kinds[kind] = &conditioned{
			kind:      schema.GroupVersionKind{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: kind},
			finalizer: finalizer,
			reason:    "Created",
			script:    newScript(),
			undo:      m.drop,
		}
	}
	return m
}

// Set sets the outcome for an object of one of the four kinds. [Hang] also prevents
// the removal of its finalizer.
func (m *MariaDB) Set(kind, namespace, name string, o Outcome) {
	m.kinds[kind].script.set(namespace, name, o)
}

// Dropped returns the objects that were dropped from the MariaDBs of a namespace.
// Example: "Database keystone".
func (m *MariaDB) Dropped(namespace string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.dropped[namespace])
}

func (m *MariaDB) drop(_ context.Context, _ client.Client, obj *unstructured.Unstructured) error {
	if text(obj, "spec", "cleanupPolicy") == "Skip" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropped[obj.GetNamespace()] = append(m.dropped[obj.GetNamespace()], obj.GetKind()+" "+obj.GetName())
	return nil
}

func (m *MariaDB) setup(mgr manager.Manager) error {
	var errs []error
	for _, kind := range m.kinds {
		errs = append(errs, kind.setup(mgr))
	}
	return errors.Join(errs...)
}
