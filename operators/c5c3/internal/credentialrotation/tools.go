package credentialrotation

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/refs"
)

// Tools are the dependencies of passes over CredentialRotations.
type Tools struct {
	// Client reads from the cache.
	Client client.Client
	// Foreign is the client for the kinds of other operators.
	Foreign client.Client
	// Refs reads the Secret with the administrator's password.
	Refs *refs.Reader
	// Kinds reports which kinds of other operators the cluster serves.
	Kinds interface {
		Served(kind schema.GroupVersionKind) bool
	}
	// Now returns the time in a namespace.
	Now func(namespace string) time.Time
	// Day is the length of a day in a schedule.
	Day time.Duration
}
