package keys

import (
	"time"

	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// Fernet are the keys that sign tokens.
var Fernet = Family{
	name:      pass.FernetKeysName,
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.Fernet.MaxActiveKeys },
	available: keystonev1alpha1.ReasonFernetKeysAvailable,
	generated: keystonev1alpha1.EventFernetKeysGenerated,
	loss:      "every token that was issued so far becomes invalid",
	backup:    fernetBackup,
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
	name:      pass.CredentialKeysName,
	maxActive: func(k *keystonev1alpha1.Keystone) int32 { return k.Spec.CredentialKeys.MaxActiveKeys },
	available: keystonev1alpha1.ReasonCredentialKeysAvailable,
	generated: keystonev1alpha1.EventCredentialKeysGenerated,
	needed:    true,
	loss:      "every stored credential becomes unreadable",
	backup:    credentialBackup,
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
