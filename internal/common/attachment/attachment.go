// Package attachment takes resources into the configuration of a service that refer to it by
// name, such as its stores. Their own controller reports whether the service accepts them and
// whether all of its pods have them. One that is being deleted stays until nothing is stored
// in it.
package attachment

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Resource is a resource that belongs to a service of its namespace.
type Resource interface {
	reconcile.Object
	// ServiceName returns the name of the service.
	ServiceName() string
	// AttachmentStatus returns the status for steps to modify.
	AttachmentStatus() *commonv1.AttachmentStatus
}

// Holder is the resource of a service with attached resources.
type Holder interface {
	service.Resource
	// Attached returns the part of the status about them, for steps to modify.
	Attached() *[]commonv1.Attached
}

// Declaration declares a kind of resources that belong to a service, for the controllers of
// both.
type Declaration[A Resource] struct {
	// For is an empty resource, List an empty list of them, and AddToScheme registers both.
	For         A
	List        client.ObjectList
	AddToScheme func(*runtime.Scheme) error
	// Field is the field with the name of the service, such as "spec.glanceRef.name".
	Field string
	// Finalizer is the finalizer on the resources.
	Finalizer string
	// Service is an empty resource of the service, and Definition describes that.
	Service    Holder
	Definition *service.Definition
	// Guard applies the defaults to a copy of a resource, and validates it.
	Guard func(A) error

	// Spec returns what of a resource ends up in the configuration.
	Spec func(A) any
	// Identity returns what a resource stands for. Of several with the same identity, the
	// service uses one. It is "" if that does not matter.
	Identity func(A) string
	// Credentials returns the Secret that a resource needs, nil for none. It may be nil.
	Credentials func(A) *service.Requirement
	// CABundle returns the Secret with certificates that a resource needs, nil for none. It may be
	// nil.
	CABundle func(A) *service.Requirement
	// Conflict returns why the service cannot have a resource, "" if it can. It may be nil.
	Conflict func(service.Resource, A) string
	// Report records in the status of an accepted resource what its users have to know. It returns what the
	// condition says in addition, "" for nothing, and when a certificate that it needs expires, zero for
	// never. It may be nil.
	Report func(service.Resource, Accepted[A], time.Time) (says string, expires time.Time)

	// Options returns the options that follow from the accepted resources, in the order of their
	// names, and SecretOptions those that follow from the credentials of one of them. The latter may
	// be nil.
	Options       func(*service.Pass, []Accepted[A]) ini.File
	SecretOptions func(Accepted[A]) ini.File
	// Files declares the files of each resource, nil if options are enough.
	Files *Files[A]
	// Verification declares how to find out whether a resource with files works. It may be nil.
	Verification *Verification[A]
	// Removal declares how to remove what the database has of a resource, nil if that stays. Only a
	// kind with a verification has one.
	Removal *Removal[A]
	// Accepted holds the accepted resources of a pass, and Unverified those that are to be verified.
	// Only a kind with a verification has the latter.
	Accepted   *reconcile.Slot[[]Accepted[A]]
	Unverified *reconcile.Slot[[]Accepted[A]]
	// Lacks returns what a service lacks that has these resources only, "" if they suffice. It may
	// be nil.
	Lacks func(service.Resource, []Accepted[A]) string
	// Usage declares how to find out what is stored in a resource, nil if nothing is.
	Usage *Usage
}

// Usage declares how to find out what is stored in a resource.
type Usage struct {
	// Database is the database of the service.
	Database database.Database
	// Query is an SQL query for the number of items that are stored in the resource with the
	// name :name. It only reads.
	Query string
	// Items are what it counts, such as "images".
	Items string
	// Remedy is what to do about them.
	Remedy string
}

// of returns the entry of the resource, which may be nil.
func of(entries []commonv1.Attached, resource Resource) *commonv1.Attached {
	for i := range entries {
		if entries[i].Name == resource.GetName() && entries[i].UID == resource.GetUID() {
			return &entries[i]
		}
	}
	return nil
}

// isLeaving reports whether pods must not have the resource any more.
func isLeaving(entry *commonv1.Attached) bool {
	return entry != nil && (entry.Phase == commonv1.AttachedReleasing || entry.Phase == commonv1.AttachedReleased)
}
