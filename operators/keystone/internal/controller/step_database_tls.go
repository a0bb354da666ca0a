package controller

import (
	"context"
	"fmt"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/tls"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// databaseIssuerName is the ClusterIssuer of database client certificates.
const databaseIssuerName = "openstack-db-ca-issuer"

var certificateGVK = certmanagerv1.SchemeGroupVersion.WithKind(certmanagerv1.CertificateKind)

// reconcileDatabaseTLS sees to the Secrets with the database's CA and the client
// certificate that the spec refers to. A managed database's certificate is
// issued by cert-manager, unless the spec refers to another one.
//
// Pods need no restart for renewed certificates: the kubelet refreshes the
// mounted files, and PyMySQL reads them for every connection it opens.
func reconcileDatabaseTLS(ctx context.Context, s *scope) reconcile.Outcome {
	db := s.keystone.Spec.Database
	issued := db.TLSEnabled() && db.IsManaged() && db.TLS.ClientCertSecretRef.Name == clientCertificateName(s.keystone)
	if !issued {
		if err := s.dropCertificate(ctx); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonCertificatePending, err)
		}
	}
	switch {
	case !db.TLSEnabled():
		s.lifetimes.endCertificates(client.ObjectKeyFromObject(s.keystone))
		return reconcile.Done(keystonev1alpha1.ReasonNotRequired, "TLS to the database is not enabled")
	case issued:
		if outcome := s.issueCertificate(ctx); !outcome.IsDone() {
			return outcome
		}
	}
	if outcome := s.checkTLSSecrets(ctx, db.TLS); !outcome.IsDone() {
		return outcome
	}
	if issued {
		return reconcile.Done(keystonev1alpha1.ReasonCertificateIssued, "The client certificate is issued")
	}
	return reconcile.Done(keystonev1alpha1.ReasonExternallyManaged, "The client certificate is the one that spec.database.tls refers to")
}

// checkTLSSecrets makes sure that the pods can mount and use what they need; a
// pod with a missing Secret would hang without a word.
func (s *scope) checkTLSSecrets(ctx context.Context, spec *commonv1.DatabaseTLSSpec) reconcile.Outcome {
	for _, part := range []struct {
		requirement
		certificate string
		check       func(data map[string][]byte) error
	}{{
		requirement{name: spec.CABundleSecretRef.Name, keys: []string{caBundleKey(spec)}, field: "spec.database.tls.caBundleSecretRef"},
		certificateCA,
		func(data map[string][]byte) error { return tls.CheckBundle(data[caBundleKey(spec)]) },
	}, {
		requirement{
			name: spec.ClientCertSecretRef.Name, keys: []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
			field: "spec.database.tls.clientCertSecretRef",
		},
		certificateClient,
		func(data map[string][]byte) error {
			return tls.CheckKeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
		},
	}} {
		secret, missing, err := s.lookUp(ctx, part.requirement)
		if err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonCertificatePending, err)
		}
		if missing != "" {
			return reconcile.Waiting(keystonev1alpha1.ReasonCertificatePending, missing)
		}
		if err := part.check(secret.Data); err != nil {
			return reconcile.Waiting(keystonev1alpha1.ReasonCertificatePending, fmt.Sprintf(
				"Secret %s of %s cannot be used: %s; correct it", part.name, part.field, err))
		}
		// The first of the keys is the one with the certificates.
		s.lifetimes.setCertificate(client.ObjectKeyFromObject(s.keystone), part.certificate, secret.Data[part.keys[0]])
	}
	return reconcile.Done(keystonev1alpha1.ReasonExternallyManaged, "")
}

func (s *scope) dropCertificate(ctx context.Context) error {
	if !s.Kinds.Served(certificateGVK) {
		return nil
	}
	return apply.EnsureAbsent(ctx, s.ThirdParty, s.keystone, clientCertificate(s.keystone))
}

func (s *scope) issueCertificate(ctx context.Context) reconcile.Outcome {
	if !s.Kinds.Served(certificateGVK) {
		return reconcile.Waiting(keystonev1alpha1.ReasonCertificatePending,
			"cert-manager is not installed; install it, or let spec.database.tls.clientCertSecretRef name a Secret with a certificate of your own")
	}
	certificate := clientCertificate(s.keystone)
	ready, err := tls.EnsureCertificate(ctx, s.ThirdParty, s.Scheme, s.keystone, certificate)
	if err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonCertificatePending, err)
	}
	if !ready {
		return reconcile.Waiting(keystonev1alpha1.ReasonCertificatePending, fmt.Sprintf(
			"Certificate %s of ClusterIssuer %s is not issued yet: %s",
			certificate.Name, databaseIssuerName, tls.Progress(certificate)))
	}
	return reconcile.Done(keystonev1alpha1.ReasonCertificateIssued, "")
}

func clientCertificate(k *keystonev1alpha1.Keystone) *certmanagerv1.Certificate {
	return &certmanagerv1.Certificate{
		ObjectMeta: metav1.ObjectMeta{
			Name: clientCertificateName(k), Namespace: k.Namespace, Labels: commonLabels(k),
		},
		Spec: certmanagerv1.CertificateSpec{
			CommonName: k.Name,
			SecretName: clientCertificateName(k),
			IssuerRef:  cmmeta.IssuerReference{Name: databaseIssuerName, Kind: "ClusterIssuer", Group: "cert-manager.io"},
			Usages: []certmanagerv1.KeyUsage{
				certmanagerv1.UsageClientAuth, certmanagerv1.UsageDigitalSignature, certmanagerv1.UsageKeyEncipherment,
			},
		},
	}
}
