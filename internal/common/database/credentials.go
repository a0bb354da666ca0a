package database

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Credentials are the user and password that the spec refers to.
type Credentials struct {
	// Secret is the UID of the Secret that holds them.
	Secret   types.UID
	User     string
	Password redact.Bytes
}

// CredentialsOf holds the credentials of the pass. The step that checks the Secrets of
// the spec sets it.
var CredentialsOf = reconcile.NewSlot[Credentials]("DatabaseCredentials")

// Requirement returns the Secret with the credentials and the keys that it must hold.
func Requirement(p *service.Pass) service.Requirement {
	ref := p.Data.Database.SecretRef
	return service.Requirement{
		Name: ref.Name, Keys: []string{commonv1.UsernameKey, passwordKey(ref)},
		Field: "spec.database.secretRef", Reason: vocabulary.ReasonWaitingForDBCredentials,
	}
}

// UseSecret sets the credentials from the Secret of [Requirement]. The user of a managed
// database is named after the resource.
func UseSecret(p *service.Pass, secret *corev1.Secret) {
	credentials := Credentials{
		Secret: secret.UID, User: p.Resource.GetName(), Password: secret.Data[passwordKey(p.Data.Database.SecretRef)],
	}
	if !p.Data.Database.IsManaged() {
		credentials.User = string(secret.Data[commonv1.UsernameKey])
	}
	p.Hide(string(credentials.Password))
	CredentialsOf.Put(p.Slots, credentials)
}

// ReconcileSecret checks that the Secret with the credentials exists and is complete. It
// is the step of services that refer to no other Secret.
func ReconcileSecret(ctx context.Context, p *service.Pass) reconcile.Outcome {
	found, err := service.RequireSecrets(ctx, p, Requirement(p))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonWaitingForDBCredentials, err)
	}
	UseSecret(p, found[0])
	return service.SecretsAvailable()
}

func passwordKey(ref commonv1.SecretRefSpec) string { return ref.KeyOr(commonv1.PasswordKey) }
