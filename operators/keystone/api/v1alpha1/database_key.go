package v1alpha1

import (
	"cmp"
	"slices"

	"github.com/c5c3/forge/internal/common/cluster"
)

// DatabaseKey tells databases apart: Keystones with the same key keep their data
// in the same tables. The names that the DNS of Kubernetes has for one Service
// count as one server, and so does the Service of a MariaDB. Example:
// "mariadb.openstack:3306/keystone".
func (k *Keystone) DatabaseKey(in cluster.Settings) string {
	return k.Spec.Database.Key(in, k.Namespace)
}

// OldestOf returns the Keystone that was created first, by namespace and name
// among those of the same second. It returns nil for an empty list.
func OldestOf(keystones []Keystone) *Keystone {
	if len(keystones) == 0 {
		return nil
	}
	oldest := slices.MinFunc(keystones, func(a, b Keystone) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return &oldest
}
