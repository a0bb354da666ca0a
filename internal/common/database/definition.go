package database

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Database declares how a service uses its database.
type Database struct {
	// Section is the section of the service's configuration with the connection, in upper
	// case, such as "DATABASE": oslo.config reads its options from the environment.
	Section string
	// Key finds what the hashes of connections are keyed with, and reports whether it is
	// what those of the pods are keyed with. It is empty while there is none. Without Key
	// the UID of the Secret with the credentials is taken.
	Key func(ctx context.Context, p *service.Pass) (key types.UID, certain bool, err error)
}

// Given are the credentials that the spec refers to.
type Given struct {
	// secret identifies the Secret.
	secret types.UID
	login  login
}

// Credentials are set by the step of [Database.RequireSecret].
var Credentials = reconcile.NewSlot[Given]("DatabaseCredentials")

// RequireSecret checks that the Secret of spec.database.secretRef is there and complete. It
// sets [Credentials].
func (d Database) RequireSecret(ctx context.Context, p *service.Pass) reconcile.Outcome {
	ref := p.Spec.Database.SecretRef
	key := ref.KeyOr(commonv1.DatabasePasswordKey)
	secret, waiting := p.Require(ctx, service.Requirement{
		Name: ref.Name, Keys: []string{commonv1.DatabaseUsernameKey, key},
		Field: "spec.database.secretRef", Reason: vocabulary.ReasonWaitingForDBCredentials,
	})
	if waiting != nil {
		return *waiting
	}
	given := Given{secret: secret.UID, login: login{user: p.Resource.GetName(), password: secret.Data[key]}}
	if !p.Spec.Database.IsManaged() {
		given.login.user = string(secret.Data[commonv1.DatabaseUsernameKey])
	}
	p.Hide(string(given.login.password))
	Credentials.Put(p.Slots, given)
	return reconcile.Done(vocabulary.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// Variable is the environment variable with the URL of the database.
func (d Database) Variable() string { return d.option("connection") }

func (d Database) option(name string) string { return "OS_" + d.Section + "__" + strings.ToUpper(name) }

// PodEnv hands the URL to the API pods without writing it to a file or a command line.
func (d Database) PodEnv(p *service.Pass) []corev1.EnvVar {
	return []corev1.EnvVar{deployment.SecretVariable(d.Variable(), connectionName(p), connectionKey)}
}

// Env takes the URL from the Secret for a tool. The configuration lets a server try to reach
// its database for ever; a Job has to end and tell why.
func (d Database) Env(secret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		deployment.SecretVariable(d.Variable(), secret, connectionKey),
		{Name: d.option("max_retries"), Value: "2"},
		{Name: d.option("retry_interval"), Value: "1"},
	}
}
