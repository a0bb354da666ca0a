package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// connectionKey is the only key of the connection Secret.
const connectionKey = "connection"

// connection is the database URL that pods have and, while that changes, the one
// they are to get.
type connection struct {
	// used is "" when no pod depends on what it was until now.
	used string
	// mark is the hash by which the pods have used.
	mark string
	next string
	// key is what hashes are keyed with.
	key types.UID
}

// hash tells URLs apart in annotations. It says nothing to those who see no Secret.
func (c connection) hash(url string) string {
	if c.used != "" && c.used == url {
		return c.mark
	}
	return secrets.KeyedHash(c.key, url)
}

// isHash reports whether pods with the hash have the URL. Pods of an earlier
// operator have a hash without a key, and keep it until their connection changes:
// another one would replace them for nothing.
func (c connection) isHash(hash, url string) bool {
	sum := sha256.Sum256([]byte(url))
	return hash == secrets.KeyedHash(c.key, url) || hash == hex.EncodeToString(sum[:])
}

// candidate reports whether next has to be proven before pods get it.
func (c connection) candidate() bool { return c.used != "" && c.used != c.next }

// given is what pods get now.
func (c connection) given() string {
	if c.candidate() {
		return c.used
	}
	return c.next
}

// Access is how Jobs and pods log in to the database in one pass.
type Access struct {
	connection
	logins  loginPlan
	wanted  login
	secrets [2]string
	refuses bool
}

// Connection is how Jobs and pods log in to the database, set by the step of
// [Database.ReconcileConnection].
var Connection = reconcile.NewSlot[*Access]("DatabaseConnection")

// Hash changes when any part of the database connection that pods are given does.
func (a *Access) Hash() string { return a.hash(a.given()) }

// Candidate reports whether there is a connection that has to be proven before pods get it.
func (a *Access) Candidate() bool { return a.candidate() }

// TaskConnection is what database Jobs log in with: the name of the Secret and the hash of
// what is in it.
func (a *Access) TaskConnection() (secret, hash string) {
	if a.candidate() {
		return a.secrets[1], a.hash(a.next)
	}
	return a.secrets[0], a.Hash()
}

// Proof identifies what a Job proves that has logged in to the database. prefer and require
// have the same URL; what tells them apart is in the configuration.
func (a *Access) Proof() string {
	_, hash := a.TaskConnection()
	return fmt.Sprintf("%s/%t", hash, a.refuses)
}

// ReconcileConnection keeps the Secret that hands the database URL to every pod. A changed
// URL goes to a Secret of its own first, from which the database Jobs take it: until one of
// them has succeeded, a pod that starts anew gets the URL that works. It reads
// [Credentials] and sets [Connection].
func (d Database) ReconcileConnection(ctx context.Context, p *service.Pass) reconcile.Outcome {
	access, err := d.find(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonSecretInvalid, err)
	}
	Connection.Put(p.Slots, access)
	p.Hide(access.used, access.next)
	if access.candidate() {
		if err := p.Owned.EnsureData(ctx, p.Resource, connectionSecret(p, candidateName(p), access.next)); err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
		}
	}
	if err := access.give(ctx, p); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
	}
	return reconcile.Done(vocabulary.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// Promote gives pods the connection that a Job has proven.
func (d Database) Promote(ctx context.Context, p *service.Pass) error {
	access := Connection.Value(p.Slots)
	if access.used != access.next {
		access.mark = secrets.KeyedHash(access.key, access.next)
		access.used = access.next
	}
	return access.give(ctx, p)
}

// give writes the Secret of the pods, and removes that of the Jobs when there is nothing
// left to prove.
func (a *Access) give(ctx context.Context, p *service.Pass) error {
	if err := p.Owned.EnsureData(ctx, p.Resource, connectionSecret(p, connectionName(p), a.given())); err != nil {
		return err
	}
	if a.candidate() {
		return nil
	}
	return apply.EnsureAbsent(ctx, p.Client, p.Resource, connectionSecret(p, candidateName(p), ""))
}

// FindKey finds the key of the hashes again, which may have been made in this pass.
func (d Database) FindKey(ctx context.Context, p *service.Pass) error {
	access := Connection.Value(p.Slots)
	key, _, err := d.key(ctx, p)
	if err == nil {
		access.key = key
	}
	return err
}

// key is what hashes are keyed with, and reports whether it is the one that pods have
// theirs with. Without a key of the service's own it is the UID of the Secret that the URL
// comes from.
func (d Database) key(ctx context.Context, p *service.Pass) (key types.UID, certain bool, err error) {
	if d.Key != nil {
		key, certain, err = d.Key(ctx, p)
	}
	if err == nil && key == "" {
		key = Credentials.Value(p.Slots).secret
	}
	return key, certain, err
}

// find compares the connection of the pods with the one the spec leads to.
func (d Database) find(ctx context.Context, p *service.Pass) (*Access, error) {
	wanted := Credentials.Value(p.Slots).login
	a := &Access{
		connection: connection{next: connectionURL(p, wanted)}, logins: loginPlan{next: wanted}, wanted: wanted,
		secrets: [2]string{connectionName(p), candidateName(p)}, refuses: refusesPlainText(p.Spec.Database),
	}
	key, certain, err := d.key(ctx, p)
	if err != nil {
		return nil, err
	}
	a.key = key
	deploy, err := deployment.Live(ctx, p)
	if deploy == nil || err != nil {
		return a, err
	}
	inUse := deploy.Spec.Template.Annotations[ConnectionHashAnnotation]
	live, err := a.findGiven(ctx, p, inUse)
	if live == "" || err != nil {
		return a, err
	}
	// Without the key nobody knows better than that pods have what they were given.
	if !certain || a.isHash(inUse, live) {
		a.used, a.mark = live, inUse
	}
	if current, ok := loginOf(live); ok && p.Spec.Database.IsManaged() {
		if a.logins, err = planManagedLogins(ctx, p, wanted, current, a.hash(live)); err != nil {
			return nil, err
		}
	}
	a.next = connectionURL(p, a.logins.next)
	return a, nil
}

// findGiven is what pods were given last, "" when that is lost.
func (a *Access) findGiven(ctx context.Context, p *service.Pass, inUse string) (string, error) {
	secret, err := p.Owned.Find(ctx, p.Key(connectionName(p)))
	if err != nil {
		return "", err
	}
	if secret == nil {
		return a.recall(ctx, p, inUse)
	}
	return string(secret.Data[connectionKey]), nil
}

func connectionName(p *service.Pass) string { return p.Named("db-connection") }

func candidateName(p *service.Pass) string { return p.Named("db-connection-next") }

func loginsSecretName(p *service.Pass) string { return p.Named("db-logins") }

// ConnectionHashAnnotation is on pods, and tells which connection they were started with.
const ConnectionHashAnnotation = "forge.c5c3.io/db-connection-hash"

// ConnectionInUse is the hash of the connection that the API pods have, the wanted one when
// there are none.
func ConnectionInUse(ctx context.Context, p *service.Pass) (string, error) {
	live, err := deployment.Live(ctx, p)
	if live == nil {
		return Connection.Value(p.Slots).Hash(), err
	}
	return live.Spec.Template.Annotations[ConnectionHashAnnotation], err
}

func connectionSecret(p *service.Pass, name, url string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: p.Meta(name),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{connectionKey: []byte(url)},
	}
}

// connectionURL is the SQLAlchemy URL of the database.
func connectionURL(p *service.Pass, l login) string {
	return fmt.Sprintf("mysql+pymysql://%s:%s@%s/%s?%s",
		escape(l.user), escape(string(l.password)), Address(p), escape(p.Spec.Database.Database),
		connectionOptions(p))
}

// loginOf reads a connectionURL and reports whether text is one.
func loginOf(text string) (login, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.User == nil {
		return login{}, false
	}
	password, found := parsed.User.Password()
	return login{parsed.User.Username(), redact.Bytes(password)}, found
}

// Address is host:port of the database server.
func Address(p *service.Pass) string {
	db := p.Spec.Database
	host := strings.Trim(db.Host, "[]")
	if db.IsManaged() {
		host = db.ClusterRef.Name + "." + p.Resource.GetNamespace() + ".svc"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(db.PortOrDefault())))
}

// connectionOptions are the driver's options, sorted by name. PyMySQL verifies
// the server if, and only if, it is given a CA; ssl_verify_cert and
// ssl_verify_identity must not be set, because they make it lose the CA. That a
// connection is encrypted at all is not up to these options: see
// refusesPlainText.
func connectionOptions(p *service.Pass) string {
	db, folder := p.Spec.Database, tlsDir(p)
	options := url.Values{"charset": {"utf8"}}
	if db.TLSEnabled() {
		options.Set("ssl_cert", folder+"/"+corev1.TLSCertKey)
		options.Set("ssl_key", folder+"/"+corev1.TLSPrivateKeyKey)
		if mode := db.TLS.Mode; mode == commonv1.DatabaseTLSVerifyCA || mode == commonv1.DatabaseTLSVerifyFull {
			options.Set("ssl_ca", folder+"/"+caFile)
			options.Set("ssl_check_hostname", strconv.FormatBool(mode == commonv1.DatabaseTLSVerifyFull))
		}
	}
	return strings.ReplaceAll(options.Encode(), "%2F", "/")
}

// refusesPlainText reports whether the mode promises an encrypted connection.
// PyMySQL goes on without TLS when the server does not offer it, which is what
// prefer means; every other mode needs what startFile does.
func refusesPlainText(db commonv1.DatabaseSpec) bool {
	return db.TLSEnabled() && db.TLS.Mode != commonv1.DatabaseTLSPrefer
}

// escape percent-encodes every reserved character: SQLAlchemy splits the URL
// before it decodes, and takes a plus sign literally.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
