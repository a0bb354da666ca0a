package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
)

// Access is the connection of an instance's pods to its database in one pass, and the
// next one while that changes.
type Access struct {
	pass   *service.Pass
	wanted logins.Login
	plan   logins.Plan
	// used is the URL that the pods have, "" if no pod depends on a previous one. mark is
	// the hash of it in their annotation.
	used, mark string
	// next is the URL that the pods are to get.
	next string
	// key is the key of the hashes. secret replaces it while there is none.
	key, secret types.UID
	// object is the Database of a managed database, nil until it is ensured.
	object *mariadbv1alpha1.Database
	// unsigned is true while the pods are those of an operator that did not sign Secrets.
	unsigned bool
}

// Connection holds the access of the pass. The step that keeps the connection sets it.
var Connection = reconcile.NewSlot[*Access]("DatabaseConnection")

// Proven returns the access of pods that have the URL and keep it.
func Proven(p *service.Pass, url, hash string) *Access {
	return &Access{pass: p, used: url, mark: hash, next: url}
}

// hash identifies a URL in annotations. It is keyed, so that it reveals nothing to
// readers without access to Secrets.
func (a *Access) hash(url string) string {
	if a.used != "" && a.used == url {
		return a.mark
	}
	return secrets.KeyedHash(a.key, url)
}

// isHash reports whether the hash is that of the URL. Pods of an earlier operator have a
// hash without a key and keep it until their connection changes: a new one would replace
// the pods needlessly.
func (a *Access) isHash(hash, url string) bool {
	sum := sha256.Sum256([]byte(url))
	return hash == secrets.KeyedHash(a.key, url) || hash == hex.EncodeToString(sum[:])
}

// Candidate reports whether there is a connection that must be verified before pods get
// it. It is false in a pass that did not determine the connection.
func (a *Access) Candidate() bool { return a != nil && a.used != "" && a.used != a.next }

// given returns the URL that pods get now.
func (a *Access) given() string {
	if a.Candidate() {
		return a.used
	}
	return a.next
}

// Hash returns the hash of the connection that pods get; it changes with any part of the
// URL.
func (a *Access) Hash() string { return a.hash(a.given()) }

// TaskConnection returns the connection of Jobs that work on the database: the name of
// its Secret and its hash.
func (a *Access) TaskConnection() (secret, hash string) {
	if a.Candidate() {
		return candidateSecret(a.pass), a.hash(a.next)
	}
	return SecretName(a.pass.Resource.GetName()), a.Hash()
}

// Proof identifies what a Job verifies by logging in to the database. The modes prefer
// and require have the same URL and differ only in the configuration, so the mode is part
// of it.
func (a *Access) Proof() string {
	_, hash := a.TaskConnection()
	return fmt.Sprintf("%s/%t", hash, RefusesPlainText(a.pass.Data.Database))
}

// Object returns the Database of mariadb-operator that [Database.EnsureManaged] has found
// in this pass, nil for a database that is not managed.
func (a *Access) Object() *mariadbv1alpha1.Database {
	if a == nil {
		return nil
	}
	return a.object
}

// promote marks the candidate as verified.
func (a *Access) promote() {
	if a.used != a.next {
		a.mark = secrets.KeyedHash(a.key, a.next)
		a.used = a.next
	}
}

// ConnectionInUse returns the hash of the connection that the API pods have, or of the
// wanted connection if there are no pods.
func ConnectionInUse(ctx context.Context, p *service.Pass) (string, error) {
	live, err := deployment.Live(ctx, p)
	if live == nil {
		return Connection.Value(p.Slots).Hash(), err
	}
	return live.Spec.Template.Annotations[HashAnnotation(p.Definition)], err
}
