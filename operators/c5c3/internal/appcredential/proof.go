package appcredential

import (
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// isRejected reports whether Keystone has rejected the credential for a while.
func (m *manager) isRejected(live *orcv1alpha1.ApplicationCredential) bool {
	return pass.IsRefused(m.Pass, c5c3v1alpha1.ConditionAdminCredentialReady, live.CreationTimestamp.Time,
		*live.Status.ID, string(m.credential.Data[keyValue]))
}

// storedIsRejected reports whether Keystone rejects the credential in the Secret, which
// the users have. The error is identity.ErrAsking while there is no answer.
func (m *manager) storedIsRejected() (bool, error) {
	id, secret := clouds.CredentialIn(m.credential.Data[clouds.Key])
	if id == "" {
		return false, nil
	}
	return m.Proofs.Dead(m.Name, controlplane.AuthURL(m.CP), id, secret)
}
