package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Database declares the database of a service.
type Database struct {
	// Section is the section of its options in the names of environment variables, such
	// as "DATABASE" for OS_DATABASE__CONNECTION.
	Section string
	// Key finds what the hashes of the connection are keyed with, "" while there is
	// none. It outlives a lost connection and lives as long as the database. Without Key,
	// and while there is none, it is the UID of the Secret that the URL comes from, and
	// pods are taken to have what they were given last.
	Key func(ctx context.Context, p *service.Pass) (types.UID, error)
}

// HashAnnotation is the annotation of pods with the hash of their connection.
func HashAnnotation(d *service.Definition) string { return d.Name + ".c5c3.io/db-connection-hash" }

// Credentials are the user and the password that the spec refers to.
type Credentials struct {
	// Secret identifies the Secret that they come from.
	Secret   types.UID
	User     string
	Password redact.Bytes
}

// CredentialsOf are the credentials of this pass, set by the step that checks the
// Secrets of the spec.
var CredentialsOf = reconcile.NewSlot[Credentials]("DatabaseCredentials")

// Requirement is the Secret with the credentials.
func Requirement(p *service.Pass) service.Requirement {
	ref := p.Spec.Database.SecretRef
	return service.Requirement{
		Name: ref.Name, Keys: []string{commonv1.DatabaseUsernameKey, passwordKey(ref)},
		Field: "spec.database.secretRef", Reason: vocabulary.ReasonWaitingForDBCredentials,
	}
}

// UseSecret takes the credentials out of the Secret of [Requirement]. The user of a
// managed database has the name of the resource.
func UseSecret(p *service.Pass, secret *corev1.Secret) {
	credentials := Credentials{
		Secret: secret.UID, User: p.Resource.GetName(), Password: secret.Data[passwordKey(p.Spec.Database.SecretRef)],
	}
	if !p.Spec.Database.IsManaged() {
		credentials.User = string(secret.Data[commonv1.DatabaseUsernameKey])
	}
	p.Hide(string(credentials.Password))
	CredentialsOf.Put(p.Slots, credentials)
}

// ReconcileSecret checks that the Secret with the credentials is there and complete. It is
// the step of services that refer to no other.
func ReconcileSecret(ctx context.Context, p *service.Pass) reconcile.Outcome {
	found, outcome := service.Require(ctx, p, Requirement(p))
	if outcome.IsDone() {
		UseSecret(p, found[0])
	}
	return outcome
}

func passwordKey(ref commonv1.SecretRefSpec) string { return ref.KeyOr(commonv1.DatabasePasswordKey) }

// Access is how the pods of an instance log in to its database in one pass and, while
// that changes, how they are to.
type Access struct {
	pass   *service.Pass
	wanted login
	logins loginPlan
	// used is the URL that pods have, "" when no pod depends on what it was until now,
	// and mark the hash by which they have it.
	used, mark string
	// next is the URL that they are to get.
	next string
	// key is what hashes are keyed with, and secret what does for it.
	key, secret types.UID
}

// Connection is the access of the pass, set by the step that keeps the connection.
var Connection = reconcile.NewSlot[*Access]("DatabaseConnection")

// Proven is an access of pods that have the URL and are to keep it.
func Proven(p *service.Pass, url, hash string) *Access {
	return &Access{pass: p, used: url, mark: hash, next: url}
}

// hash tells URLs apart in annotations. It says nothing to those who see no Secret.
func (a *Access) hash(url string) string {
	if a.used != "" && a.used == url {
		return a.mark
	}
	return secrets.KeyedHash(a.key, url)
}

// isHash reports whether pods with the hash have the URL. Pods of an earlier
// operator have a hash without a key, and keep it until their connection changes:
// another one would replace them for nothing.
func (a *Access) isHash(hash, url string) bool {
	sum := sha256.Sum256([]byte(url))
	return hash == secrets.KeyedHash(a.key, url) || hash == hex.EncodeToString(sum[:])
}

// Candidate reports whether there is a connection that has to be proven before pods get
// it. There is none in a pass that has not looked.
func (a *Access) Candidate() bool { return a != nil && a.used != "" && a.used != a.next }

// given is what pods get now.
func (a *Access) given() string {
	if a.Candidate() {
		return a.used
	}
	return a.next
}

// Hash changes when any part of the database connection that pods are given does.
func (a *Access) Hash() string { return a.hash(a.given()) }

// TaskConnection is what Jobs log in with that work on the database: the name of the
// Secret and the hash of what is in it.
func (a *Access) TaskConnection() (secret, hash string) {
	if a.Candidate() {
		return candidateSecret(a.pass), a.hash(a.next)
	}
	return SecretName(a.pass.Resource.GetName()), a.Hash()
}

// Proof identifies what a Job proves that has logged in to the database. prefer and
// require have the same URL; what tells them apart is in the configuration.
func (a *Access) Proof() string {
	_, hash := a.TaskConnection()
	return fmt.Sprintf("%s/%t", hash, RefusesPlainText(a.pass.Spec.Database))
}

// promote counts the candidate as proven.
func (a *Access) promote() {
	if a.used != a.next {
		a.mark = secrets.KeyedHash(a.key, a.next)
		a.used = a.next
	}
}

// ConnectionInUse is the hash of the connection that the API pods have, the wanted one
// when there are none.
func ConnectionInUse(ctx context.Context, p *service.Pass) (string, error) {
	live, err := deployment.Live(ctx, p)
	if live == nil {
		return Connection.Value(p.Slots).Hash(), err
	}
	return live.Spec.Template.Annotations[HashAnnotation(p.Definition)], err
}
