package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// The values SetDefaults fills in. The schema states the same ones, so that an
// API server without the webhook applies them, too.
const (
	DefaultMaxActiveKeys    int32 = 3
	DefaultRotationSchedule       = "0 0 * * 0"

	DefaultTrustFlushSchedule = "0 * * * *"

	DefaultAdminUser              = "admin"
	DefaultRegion                 = "RegionOne"
	DefaultPasswordSchedule       = "0 0 1 * *"
	DefaultPasswordLength   int32 = 32
)

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(k *Keystone) {
	k.Spec.ServiceSpec.SetDefaults()
	k.Spec.DataSpec.SetDefaults()
	defaultKeys(&k.Spec)
	defaultTrustFlush(&k.Spec)
	defaultBootstrap(&k.Spec.Bootstrap)
}

// defaultKeys treats a schedule that is empty in an otherwise filled block as
// a mistake: the schema fills in an absent one, so an empty one was written by
// someone, and validation asks for it.
func defaultKeys(spec *KeystoneSpec) {
	if spec.Fernet == (FernetSpec{}) {
		spec.Fernet.RotationSchedule = DefaultRotationSchedule
	}
	if spec.CredentialKeys == (CredentialKeysSpec{}) {
		spec.CredentialKeys.RotationSchedule = DefaultRotationSchedule
	}
	commonv1.SetIfZero(&spec.Fernet.MaxActiveKeys, DefaultMaxActiveKeys)
	commonv1.SetIfZero(&spec.CredentialKeys.MaxActiveKeys, DefaultMaxActiveKeys)
}

func defaultTrustFlush(spec *KeystoneSpec) {
	if spec.TrustFlush == nil {
		spec.TrustFlush = &TrustFlushSpec{Schedule: DefaultTrustFlushSchedule}
	}
}

func defaultBootstrap(bootstrap *BootstrapSpec) {
	commonv1.SetIfZero(&bootstrap.AdminUser, DefaultAdminUser)
	commonv1.SetIfZero(&bootstrap.Region, DefaultRegion)
	if rotation := bootstrap.PasswordRotation; rotation != nil {
		commonv1.SetIfZero(&rotation.Schedule, DefaultPasswordSchedule)
		commonv1.SetIfZero(&rotation.PasswordLength, DefaultPasswordLength)
	}
}
