package keys

import (
	"context"
	"time"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

const (
	fernetKeys     = "fernet-keys"
	credentialKeys = "credential-keys"
)

// Finalizer protects the copies of the keys in the secret store.
const Finalizer = "keystone.openstack.c5c3.io/openbao-finalizer"

// Fernet are the keys that sign tokens.
var Fernet = Family{
	Keys: keysecret.Keys{
		Name: fernetKeys, Loss: "every token that was issued so far becomes invalid", Validate: fernet.ValidateInUse,
	},
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.Fernet.MaxActiveKeys },
	available: keystonev1alpha1.ReasonFernetKeysAvailable,
	generated: keystonev1alpha1.EventFernetKeysGenerated,
	metric:    "fernet",
	rotated:   keystonev1alpha1.ReasonFernetKeysRotated,
	hold:      holdTokenKeys,
	lifetime:  tokenLifetime,
	rotation: keyRotation{
		name: keystonev1alpha1.FernetRotation, does: "rotating the token keys", script: "fernet_rotate.sh",
		volume: volumeFernetKeys, directory: keystonev1alpha1.FernetKeyRepository, maxActive: "OS_FERNET_TOKENS__MAX_ACTIVE_KEYS",
		schedule: func(k *keystonev1alpha1.Keystone) (string, bool) {
			return k.Spec.Fernet.RotationSchedule, k.Spec.Fernet.Suspend
		},
		others: CredentialMount,
	},
}

// Credential are the keys that encrypt credentials.
var Credential = Family{
	Keys: keysecret.Keys{
		Name: credentialKeys, Needed: true, Encrypted: "the credentials", Abandon: "delete the rows of table credential",
		Loss: "every stored credential becomes unreadable", Validate: fernet.ValidateInUse,
	},
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.CredentialKeys.MaxActiveKeys },
	available: keystonev1alpha1.ReasonCredentialKeysAvailable,
	generated: keystonev1alpha1.EventCredentialKeysGenerated,
	metric:    "credential",
	rotated:   keystonev1alpha1.ReasonCredentialKeysRotated,
	hold:      holdCredentialKeys,
	// Credentials do not expire; they are encrypted again.
	lifetime: func(*pass.Scope) (time.Duration, bool) { return 0, true },
	rotation: keyRotation{
		name: keystonev1alpha1.CredentialRotation, does: "rotating the credential keys", script: "credential_rotate.sh",
		volume: volumeCredentialKeys, directory: keystonev1alpha1.CredentialKeyRepository, maxActive: "OS_CREDENTIAL__MAX_ACTIVE_KEYS",
		schedule: func(k *keystonev1alpha1.Keystone) (string, bool) {
			return k.Spec.CredentialKeys.RotationSchedule, k.Spec.CredentialKeys.Suspend
		},
		others:  fernetMount,
		migrate: migrateCredentials,
	},
}

func tokenLifetime(s *pass.Scope) (lifetime time.Duration, ok bool) {
	if service.Config.Value(s.Slots).Options == nil {
		return 0, false
	}
	return keystonev1alpha1.TokenLifetime(service.Config.Value(s.Slots).Options)
}

// SecretNames returns the names of the Secrets with the keys of a Keystone, in use and
// staged.
func SecretNames(k *keystonev1alpha1.Keystone) []string {
	fernet, credential := pass.FernetKeysName(k), pass.CredentialKeysName(k)
	return []string{fernet, credential, stagingName(fernet), stagingName(credential)}
}

// ReconcileBackup has External Secrets keep copies of both families in the secret store.
func ReconcileBackup(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	return keysecret.ReconcileBackup(ctx, s.Pass, Fernet.Keys, Credential.Keys)
}

// Finalize removes the keys together with the database that they decrypt.
func Finalize(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	return keysecret.Finalize(ctx, s.Pass, s.Own.SecretStoreTimeout, Fernet.Keys, Credential.Keys)
}
