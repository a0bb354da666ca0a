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

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// connectionKey is the only key of the connection Secret.
const connectionKey = "connection"

// connectionEnv is how oslo.config reads [database] connection from the
// environment; it knows upper case only.
const connectionEnv = "OS_DATABASE__CONNECTION"

// reconcileDBConnection keeps the Secret that hands the database URL to every
// pod. It is the only place where the URL with its password exists.
func reconcileDBConnection(ctx context.Context, s *scope) reconcile.Outcome {
	secret := connectionSecret(s.keystone, s.credentials)
	if err := s.owned.EnsureData(ctx, s.keystone, secret); err != nil {
		return writeError(keystonev1alpha1.ReasonSecretInvalid, err)
	}
	sum := sha256.Sum256(secret.Data[connectionKey])
	s.connectionHash = hex.EncodeToString(sum[:])
	return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
}

func connectionSecret(k *keystonev1alpha1.Keystone, c credentials) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: connectionSecretName(k), Namespace: k.Namespace, Labels: commonLabels(k),
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{connectionKey: []byte(connectionURL(k, c))},
	}
}

// connectionURL is the SQLAlchemy URL of the database.
func connectionURL(k *keystonev1alpha1.Keystone, c credentials) string {
	return fmt.Sprintf("mysql+pymysql://%s:%s@%s/%s?%s",
		escape(c.databaseUser), escape(string(c.databasePassword)), databaseAddress(k), escape(k.Spec.Database.Database),
		connectionOptions(k.Spec.Database))
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
// prefer means; every other mode needs the guard in tlsGuardFile.
func refusesPlainText(db commonv1.DatabaseSpec) bool {
	return db.TLSEnabled() && db.TLS.Mode != commonv1.DatabaseTLSPrefer
}

// escape percent-encodes every reserved character: SQLAlchemy splits the URL
// before it decodes, and takes a plus sign literally.
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
