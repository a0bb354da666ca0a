package database

import (
	"context"
	"fmt"
	"strings"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/tls"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

const (
	volumeTLS = "db-tls"
	// caFile is the file name and default key of the database CA.
	caFile = "ca.crt"
)

// databaseIssuerName is the ClusterIssuer of database client certificates.
const databaseIssuerName = "openstack-db-ca-issuer"

// Values of the metrics' certificate label.
const (
	certificateCA     = "ca"
	certificateClient = "client"
)

var certificateGVK = certmanagerv1.SchemeGroupVersion.WithKind(certmanagerv1.CertificateKind)

// tlsDir is the directory with the certificates in the service's containers.
func tlsDir(d *service.Definition) string { return "/etc/" + d.CodeName + "/db-tls" }

func caBundleKey(tls *commonv1.DatabaseTLSSpec) string { return tls.CABundleSecretRef.KeyOr(caFile) }

// ReconcileTLS ensures the Secrets with the database CA and the client certificate that
// the spec refers to. cert-manager issues the certificate for a managed database, unless
// the spec refers to another one. If the spec does not mention TLS, a MariaDB that requires
// it is used with its own authorities and client certificate.
//
// Renewed certificates require no restart: the kubelet refreshes the mounted files, and
// PyMySQL reads them for every connection that it opens.
func (d Database) ReconcileTLS(ctx context.Context, p *service.Pass) reconcile.Outcome {
	theirs, err := consult(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonCertificatePending, err)
	}
	db := p.Data.Database
	issued := !theirs && db.TLSEnabled() && db.IsManaged() && db.TLS.ClientCertSecretRef.Name == clientCertificate(p)
	if !issued {
		if err := dropCertificate(ctx, p); err != nil {
			return reconcile.Failed(vocabulary.ReasonCertificatePending, err)
		}
	}
	switch {
	case !db.TLSEnabled():
		p.Certificates.Forget(client.ObjectKeyFromObject(p.Resource))
		return reconcile.Done(vocabulary.ReasonNotRequired, "TLS to the database is not enabled")
	case issued:
		if err := issueCertificate(ctx, p); err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonCertificatePending, err)
		}
	}
	if err := checkSecrets(ctx, p, theirs); err != nil {
		return reconcile.Failed(vocabulary.ReasonCertificatePending, err)
	}
	switch {
	case issued:
		return reconcile.Done(vocabulary.ReasonCertificateIssued, "The client certificate is issued")
	case theirs:
		return reconcile.Done(vocabulary.ReasonExternallyManaged,
			"The client certificate is that of MariaDB "+db.ClusterRef.Name+", which requires TLS")
	}
	return reconcile.Done(vocabulary.ReasonExternallyManaged, "The client certificate is the one that spec.database.tls refers to")
}

// checkSecrets verifies the Secrets before pods mount them: a pod with a missing Secret
// would hang without an explanation. theirs is set for those of the MariaDB.
func checkSecrets(ctx context.Context, p *service.Pass, theirs bool) error {
	spec, bundle, pair := p.Data.Database.TLS, "spec.database.tls.caBundleSecretRef", "spec.database.tls.clientCertSecretRef"
	if theirs {
		bundle = "MariaDB " + p.Data.Database.ClusterRef.Name
		pair = bundle
	}
	for _, part := range []struct {
		service.Requirement
		certificate string
		check       func(data map[string][]byte) error
	}{{
		service.Requirement{Name: spec.CABundleSecretRef.Name, Keys: []string{caBundleKey(spec)}, Field: bundle},
		certificateCA,
		func(data map[string][]byte) error { return tls.CheckBundle(data[caBundleKey(spec)]) },
	}, {
		service.Requirement{
			Name: spec.ClientCertSecretRef.Name, Keys: []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
			Field: pair,
		},
		certificateClient,
		func(data map[string][]byte) error {
			return tls.CheckKeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
		},
	}} {
		secret, missing, err := service.LookUp(ctx, p, part.Requirement)
		if err != nil {
			return err
		}
		if missing != "" && theirs {
			missing = fmt.Sprintf("%s requires TLS, and mariadb-operator has not created Secret %s with %s yet;"+
				" look at the conditions of the MariaDB, or set spec.database.tls", part.Field, part.Name, strings.Join(part.Keys, " and "))
		}
		if missing != "" {
			return reconcile.WaitError("", missing)
		}
		if err := part.check(secret.Data); err != nil {
			return reconcile.WaitError("", fmt.Sprintf(
				"Secret %s of %s cannot be used: %s; correct it", part.Name, part.Field, err))
		}
		// The first key holds the certificates.
		p.Certificates.Set(client.ObjectKeyFromObject(p.Resource), part.certificate, secret.Data[part.Keys[0]])
	}
	return nil
}

func dropCertificate(ctx context.Context, p *service.Pass) error {
	if !p.Kinds.Served(certificateGVK) {
		return nil
	}
	return apply.EnsureAbsent(ctx, p.ThirdParty, p.Resource, ClientCertificate(p))
}

// issueCertificate returns an error until cert-manager has issued the certificate.
func issueCertificate(ctx context.Context, p *service.Pass) error {
	if !p.Kinds.Served(certificateGVK) {
		return reconcile.WaitError("",
			"cert-manager is not installed; install it, or let spec.database.tls.clientCertSecretRef name a Secret with a certificate of your own")
	}
	certificate := ClientCertificate(p)
	ready, err := tls.EnsureCertificate(ctx, p.ThirdParty, p.Scheme, p.Resource, certificate)
	if err != nil {
		return err
	}
	if !ready {
		return reconcile.WaitError("", fmt.Sprintf(
			"Certificate %s of ClusterIssuer %s is not issued yet: %s",
			certificate.Name, databaseIssuerName, tls.Progress(certificate)))
	}
	return nil
}

// clientCertificate is the name of the Certificate and of its Secret.
func clientCertificate(p *service.Pass) string { return p.Named("db-client") }

// ClientCertificate builds the Certificate that identifies the instance to a managed
// database.
func ClientCertificate(p *service.Pass) *certmanagerv1.Certificate {
	return &certmanagerv1.Certificate{
		ObjectMeta: p.Meta(clientCertificate(p)),
		Spec: certmanagerv1.CertificateSpec{
			CommonName: p.Resource.GetName(),
			SecretName: clientCertificate(p),
			IssuerRef:  cmmeta.IssuerReference{Name: databaseIssuerName, Kind: "ClusterIssuer", Group: "cert-manager.io"},
			Usages: []certmanagerv1.KeyUsage{
				certmanagerv1.UsageClientAuth, certmanagerv1.UsageDigitalSignature, certmanagerv1.UsageKeyEncipherment,
			},
		},
	}
}

// RefusesPlainText reports whether the mode requires an encrypted connection. PyMySQL
// falls back to plain text when the server does not offer TLS. That is what prefer means;
// every other mode needs a start file that refuses it.
func RefusesPlainText(db commonv1.DatabaseSpec) bool {
	return db.TLSEnabled() && db.TLS.Mode != commonv1.DatabaseTLSPrefer
}
