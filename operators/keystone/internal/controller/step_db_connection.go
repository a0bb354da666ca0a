package controller

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// connectionKey is the only key of the connection Secret.
const connectionKey = "connection"

// connectionEnv is how oslo.config reads [database] connection from the
// environment; it knows upper case only.
const connectionEnv = "OS_DATABASE__CONNECTION"

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

// reconcileDBConnection keeps the Secret that hands the database URL to every
// pod. A changed URL goes to a Secret of its own first, from which the database
// Jobs take it: until one of them has succeeded, a pod that starts anew gets
// the URL that works.
func reconcileDBConnection(ctx context.Context, s *scope) reconcile.Outcome {
	if err := s.findConnection(ctx); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonSecretInvalid, err)
	}
	if s.connection.candidate() {
		candidate := connectionSecret(s.keystone, candidateSecretName(s.keystone), s.connection.next)
		if err := s.Owned.EnsureData(ctx, s.keystone, candidate); err != nil {
			return reconcile.WriteFailed(keystonev1alpha1.ReasonSecretInvalid, err)
		}
	}
	if err := s.giveConnection(ctx); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonSecretInvalid, err)
	}
	return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// promoteConnection gives pods the connection that a Job has proven.
func (s *scope) promoteConnection(ctx context.Context) reconcile.Outcome {
	if s.connection.used != s.connection.next {
		s.connection.mark = secrets.KeyedHash(s.connection.key, s.connection.next)
		s.connection.used = s.connection.next
	}
	if err := s.giveConnection(ctx); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonSecretInvalid, err)
	}
	return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
}

// giveConnection writes the Secret of the pods, and removes that of the Jobs
// when there is nothing left to prove.
func (s *scope) giveConnection(ctx context.Context) error {
	given := connectionSecret(s.keystone, connectionSecretName(s.keystone), s.connection.given())
	if err := s.Owned.EnsureData(ctx, s.keystone, given); err != nil {
		return err
	}
	if s.connection.candidate() {
		return nil
	}
	return apply.EnsureAbsent(ctx, s.Client, s.keystone, connectionSecret(s.keystone, candidateSecretName(s.keystone), ""))
}

// connectionHash changes when any part of the database connection that pods are
// given does.
func (s *scope) connectionHash() string { return s.connection.hash(s.connection.given()) }

// keyConnection finds the key of the hashes, and reports whether it is the one
// that pods have theirs with: the UID of the Secret with the credential keys, which
// lives as long as the database does and outlives a lost connection. Jobs that run
// before there are such keys do with that of the Secret that the URL comes from.
func (s *scope) keyConnection(ctx context.Context) (certain bool, err error) {
	found, err := s.Owned.Find(ctx, s.Key(credentialKeysName(s.keystone)))
	if err != nil {
		return false, err
	}
	if found == nil {
		s.connection.key = s.credentials.databaseSecret
		return false, nil
	}
	s.connection.key = found.UID
	return true, nil
}

// taskConnection is what database Jobs log in with: the name of the Secret and
// the hash of what is in it.
func (s *scope) taskConnection() (secret, hash string) {
	if s.connection.candidate() {
		return candidateSecretName(s.keystone), s.connection.hash(s.connection.next)
	}
	return connectionSecretName(s.keystone), s.connectionHash()
}

// connectionProof identifies what a Job proves that has logged in to the
// database. prefer and require have the same URL; what tells them apart is in
// the configuration.
func (s *scope) connectionProof() string {
	_, hash := s.taskConnection()
	return fmt.Sprintf("%s/%t", hash, refusesPlainText(s.keystone.Spec.Database))
}

// findConnection compares the connection of the pods with the one the spec
// leads to.
func (s *scope) findConnection(ctx context.Context) error {
	k := s.keystone
	wanted := login{s.credentials.databaseUser, s.credentials.databasePassword}
	s.logins = loginPlan{next: wanted}
	s.connection = connection{next: connectionURL(k, wanted)}
	certain, err := s.keyConnection(ctx)
	if err != nil {
		return err
	}
	deploy, err := deployment.Live(ctx, s.Pass)
	if deploy == nil || err != nil {
		return err
	}
	inUse := deploy.Spec.Template.Annotations[annotationConnectionHash]
	live, err := s.givenConnection(ctx, inUse)
	if live == "" || err != nil {
		return err
	}
	// Without the key nobody knows better than that pods have what they were given.
	if !certain || s.connection.isHash(inUse, live) {
		s.connection.used, s.connection.mark = live, inUse
	}
	if current, ok := loginOf(live); ok && k.Spec.Database.IsManaged() {
		if s.logins, err = s.planManagedLogins(ctx, wanted, current, s.connection.hash(live)); err != nil {
			return err
		}
	}
	s.connection.next = connectionURL(k, s.logins.next)
	return nil
}

// givenConnection is what pods were given last, "" when that is lost.
func (s *scope) givenConnection(ctx context.Context, inUse string) (string, error) {
	secret, err := s.Owned.Find(ctx, s.Key(connectionSecretName(s.keystone)))
	if err != nil {
		return "", err
	}
	if secret == nil {
		return s.recallConnection(ctx, inUse)
	}
	return string(secret.Data[connectionKey]), nil
}

func connectionSecret(k *keystonev1alpha1.Keystone, name, url string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.Namespace, Labels: commonLabels(k)},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{connectionKey: []byte(url)},
	}
}

// connectionURL is the SQLAlchemy URL of the database.
func connectionURL(k *keystonev1alpha1.Keystone, l login) string {
	return fmt.Sprintf("mysql+pymysql://%s:%s@%s/%s?%s",
		escape(l.user), escape(string(l.password)), databaseAddress(k), escape(k.Spec.Database.Database),
		connectionOptions(k.Spec.Database))
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

// databaseAddress is host:port of the database server.
func databaseAddress(k *keystonev1alpha1.Keystone) string {
	db := k.Spec.Database
	host := strings.Trim(db.Host, "[]")
	if db.IsManaged() {
		host = db.ClusterRef.Name + "." + k.Namespace + ".svc"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(db.PortOrDefault())))
}

// connectionOptions are the driver's options, sorted by name. PyMySQL verifies
// the server if, and only if, it is given a CA; ssl_verify_cert and
// ssl_verify_identity must not be set, because they make it lose the CA. That a
// connection is encrypted at all is not up to these options: see
// refusesPlainText.
func connectionOptions(db commonv1.DatabaseSpec) string {
	options := url.Values{"charset": {"utf8"}}
	if db.TLSEnabled() {
		options.Set("ssl_cert", databaseTLSDir+"/"+corev1.TLSCertKey)
		options.Set("ssl_key", databaseTLSDir+"/"+corev1.TLSPrivateKeyKey)
		if mode := db.TLS.Mode; mode == commonv1.DatabaseTLSVerifyCA || mode == commonv1.DatabaseTLSVerifyFull {
			options.Set("ssl_ca", databaseTLSDir+"/"+caFile)
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
