package instance

import (
	"k8s.io/apimachinery/pkg/runtime"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Lighthouse is a [Harbour] with a service user.
type Lighthouse struct {
	Harbour

	Identity             commonv1.IdentitySpec
	ServiceUserSecretRef commonv1.SecretRefSpec
}

var _ commonv1.ServiceUserDescriber = (*Lighthouse)(nil)

// DeepCopyObject implements [runtime.Object].
func (l *Lighthouse) DeepCopyObject() runtime.Object {
	copied := *l
	if harbour, ok := l.Harbour.DeepCopyObject().(*Harbour); ok {
		copied.Harbour = *harbour
	}
	return &copied
}

// ServiceUser implements [commonv1.ServiceUserDescriber].
func (l *Lighthouse) ServiceUser() commonv1.ServiceUser {
	return commonv1.ServiceUser{Identity: &l.Identity, SecretRef: &l.ServiceUserSecretRef}
}

// WithUser returns a defaulted resource with an external database and cache, and a service
// user.
func WithUser() *Lighthouse {
	l := &Lighthouse{
		Harbour:              *Brownfield(),
		Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
		ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "harbour-user"},
	}
	l.Identity.SetDefaults()
	return l
}
