// Package sharing decides which resource owns a database that several resources name. They
// may be of any kind and in any namespace: only the identity of the database counts.
package sharing

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Grace is how long an older resource of another namespace may take to install its
// schema. After that it has not shown that its login works, and is no longer waited for.
const Grace = 10 * time.Minute

// Claim is a resource in its relation to the database that its spec names.
type Claim struct {
	Kind, Namespace, Name string
	UID                   types.UID
	Created               metav1.Time
	Database              commonv1.DatabaseIdentity
	// Installed is set once the resource has installed its schema, which proves its login.
	Installed bool
	// Keeps is set if what is in the database outlives the resource.
	Keeps bool
	// Deleting is set while the resource is being deleted.
	Deleting bool
}

// resource is what a claim is made of, together with its database.
type resource interface {
	metav1.Object
	ServiceStatus() *commonv1.ServiceStatus
}

// Of returns the claim of a resource to its database.
func Of(kind string, r resource, data *commonv1.DataSpec, in cluster.Settings) Claim {
	return Claim{
		Kind: kind, Namespace: r.GetNamespace(), Name: r.GetName(), UID: r.GetUID(), Created: r.GetCreationTimestamp(),
		Database: data.Database.Identity(in, r.GetNamespace()), Installed: r.ServiceStatus().InstalledRelease != "",
		Keeps: data.KeepsData(), Deleting: r.GetDeletionTimestamp() != nil,
	}
}

// String names the resource. Example: "Keystone keystone of namespace openstack".
func (c Claim) String() string {
	return fmt.Sprintf("%s %s of namespace %s", c.Kind, c.Name, c.Namespace)
}

// Is reports whether both are of the same resource.
func (c Claim) Is(other Claim) bool {
	return c.Kind == other.Kind && c.Namespace == other.Namespace && c.Name == other.Name
}

// Refuses reports whether a new resource, or one that moves to the database, must not have
// it because of c.
func (c Claim) Refuses(newcomer Claim) bool {
	switch home := c.atHome(); {
	case home != newcomer.atHome():
		return home
	case c.Namespace != newcomer.Namespace:
		return c.Installed
	}
	return true
}

// Precedes reports whether the database is that of c and not that of other: those in the
// namespace of the server come first, then those that have installed their schema, then
// the older ones. Anybody can name the database of anybody else, so in another namespace a
// login that was not proven does not count. until is when it ceases to count if nothing
// else changes, the zero time for never.
func (c Claim) Precedes(other Claim, now time.Time) (precedes bool, until time.Time) {
	home, stranger := c.atHome(), c.Namespace != other.Namespace
	switch {
	case home != other.atHome():
		return home, until
	case c.Installed != other.Installed && !stranger:
		return c.Installed, until
	case stranger && !c.Installed:
		until = c.Created.Add(Grace)
		if other.Installed || c.Compare(other) > 0 || !now.Before(until) {
			return false, time.Time{}
		}
		return true, until
	case stranger && !other.Installed:
		return true, until
	}
	return c.Compare(other) < 0, until
}

// atHome reports whether the server is in the namespace of the resource.
func (c Claim) atHome() bool { return c.Database.IsAtHome(c.Namespace) }

// Compare orders resources by their age, and those of the same second by namespace, name
// and kind.
func (c Claim) Compare(other Claim) int {
	return cmp.Or(c.Created.Compare(other.Created.Time), cmp.Compare(c.Namespace, other.Namespace),
		cmp.Compare(c.Name, other.Name), cmp.Compare(c.Kind, other.Kind))
}

// HasData reports whether c has data in its database that the end of another resource must
// not take away. A resource that is being deleted has some only if they are to stay.
func (c Claim) HasData() bool { return c.Installed && (!c.Deleting || c.Keeps) }
