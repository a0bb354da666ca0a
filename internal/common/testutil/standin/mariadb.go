package standin

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// MariaDB plays mariadb-operator for its kinds MariaDB, Database, User and
// Grant: all become ready, the last three have a finalizer as the real ones.
type MariaDB struct{ kinds map[string]*conditioned }

// NewMariaDB returns a stand-in for [Run].
func NewMariaDB() *MariaDB {
	m := &MariaDB{kinds: map[string]*conditioned{}}
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
		}
	}
	return m
}

// Set decides what becomes of an object of one of the four kinds. [Hang] also
// holds back the removal of its finalizer.
func (m *MariaDB) Set(kind, namespace, name string, o Outcome) {
	m.kinds[kind].script.set(namespace, name, o)
}

func (m *MariaDB) setup(mgr manager.Manager) error {
	var errs []error
	for _, kind := range m.kinds {
		errs = append(errs, kind.setup(mgr))
	}
	return errors.Join(errs...)
}
