// Package tls reconciles cert-manager Certificates and checks the certificates
// that users refer to.
package tls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// EnsureCertificate applies the Certificate and reports whether cert-manager
// has issued it for the current spec.
func EnsureCertificate(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, cert *certmanagerv1.Certificate,
) (bool, error) {
	if err := apply.EnsureObject(ctx, c, scheme, owner, cert, apply.FieldManager); err != nil {
		return false, err
	}
	condition := readiness(cert)
	return condition != nil && condition.Status == cmmeta.ConditionTrue && condition.ObservedGeneration >= cert.Generation, nil
}

// Progress explains what a Certificate that has not been issued is waiting for.
func Progress(cert *certmanagerv1.Certificate) string {
	condition := readiness(cert)
	if condition == nil {
		return "cert-manager has not processed it yet; check that its controller runs"
	}
	return fmt.Sprintf("cert-manager says %s: %s", condition.Reason, condition.Message)
}

func readiness(cert *certmanagerv1.Certificate) *certmanagerv1.CertificateCondition {
	for i := range cert.Status.Conditions {
		if cert.Status.Conditions[i].Type == certmanagerv1.CertificateConditionReady {
			return &cert.Status.Conditions[i]
		}
	}
	return nil
}

// CheckBundle returns an error if the text is not a bundle of PEM certificates.
// The error does not quote the text.
func CheckBundle(text []byte) error {
	found := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("certificate %d of the bundle is malformed", found+1)
		}
		found++
	}
	if found == 0 {
		return errors.New("there is no certificate in PEM form")
	}
	return nil
}

// Validity returns the period in which all certificates of a PEM text are
// valid. ok is false if the text has no certificate or a malformed one.
func Validity(text []byte) (start, end time.Time, ok bool) {
	certificates, err := cert.ParseCertsPEM(text)
	if err != nil {
		return start, end, false
	}
	start, end = certificates[0].NotBefore, certificates[0].NotAfter
	for _, certificate := range certificates[1:] {
		if certificate.NotAfter.Before(end) {
			end = certificate.NotAfter
		}
		if certificate.NotBefore.After(start) {
			start = certificate.NotBefore
		}
	}
	return start, end, true
}

// CheckKeyPair returns an error if the PEM texts certificate and key do not
// belong together. The error quotes neither.
func CheckKeyPair(certificate, key []byte) error {
	if err := CheckBundle(certificate); err != nil {
		return err
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return errors.New("the private key is malformed or does not belong to the certificate")
	}
	return nil
}
