package servingcert

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
)

// caKey is the Secret key that holds the trusted authorities, PEM encoded. It
// is the one cert-manager uses.
const caKey = "ca.crt"

// issueBackdate is how far in the past client-go starts the validity of the
// certificates it generates, as a margin for clocks that disagree.
const issueBackdate = time.Hour

// keyPair is a serving certificate together with what clients must trust to
// accept it.
type keyPair struct {
	certificate *tls.Certificate
	// resourceVersion is that of the Secret it was read from.
	resourceVersion string
	// authorities is the PEM bundle for caBundle: the issuer of certificate
	// and the earlier ones that another replica may still be presenting.
	authorities []byte
	notAfter    time.Time
}

// issue creates a certificate for the DNS names that is valid for the given
// time from now on, as the data of a Secret. The earlier authorities stay in
// the bundle behind the new one.
func issue(dnsNames []string, now time.Time, validity time.Duration, earlier []*x509.Certificate) (map[string][]byte, error) {
	chain, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{
		Host:         dnsNames[0],
		AlternateDNS: dnsNames[1:],
		// The generator uses its own clock.
		MaxAge: time.Until(now.Add(validity)) + issueBackdate,
	})
	if err != nil {
		return nil, fmt.Errorf("generate webhook serving certificate: %w", err)
	}
	certificates, err := cert.ParseCertsPEM(chain)
	if err != nil {
		return nil, fmt.Errorf("parse generated webhook serving certificate: %w", err)
	}
	// The chain is the serving certificate followed by its issuer.
	bundle := slices.Concat(certificates[1:], earlier)
	authorities, err := cert.EncodeCertificates(bundle...)
	if err != nil {
		return nil, fmt.Errorf("encode webhook certificate authorities: %w", err)
	}
	return map[string][]byte{
		corev1.TLSCertKey:       chain,
		corev1.TLSPrivateKeyKey: key,
		caKey:                   authorities,
	}, nil
}

// unexpired returns the distinct certificates of some PEM bundles that are
// still valid. A bundle that does not parse counts as empty: nothing can trust
// it anyway.
func unexpired(now time.Time, bundles ...[]byte) []*x509.Certificate {
	var valid []*x509.Certificate
	for _, bundle := range bundles {
		parsed, err := cert.ParseCertsPEM(bundle)
		if err != nil {
			continue
		}
		for _, authority := range parsed {
			if now.Before(authority.NotAfter) && !slices.ContainsFunc(valid, authority.Equal) {
				valid = append(valid, authority)
			}
		}
	}
	return valid
}

// load reads the certificate from a Secret and makes sure that a client which
// trusts the Secret's authorities would accept it under every DNS name. Its
// errors never quote the data.
func load(secret *corev1.Secret, dnsNames []string, now time.Time) (*keyPair, error) {
	data := secret.Data
	// The message of X509KeyPair names PEM block types at most, but nothing is
	// gained by passing on what was derived from a private key.
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, errors.New("tls.crt and tls.key are not a certificate with its key")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[caKey]) {
		return nil, errors.New("ca.crt holds no certificate")
	}
	for _, name := range dnsNames {
		options := x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}
		if _, err := pair.Leaf.Verify(options); err != nil {
			return nil, fmt.Errorf("tls.crt cannot serve %s: %w", name, err)
		}
	}
	return &keyPair{
		certificate:     &pair,
		resourceVersion: secret.ResourceVersion,
		authorities:     data[caKey],
		notAfter:        pair.Leaf.NotAfter,
	}, nil
}

// same reports whether both present the same certificate.
func (p *keyPair) same(other *keyPair) bool {
	return other != nil && bytes.Equal(p.certificate.Leaf.Raw, other.certificate.Leaf.Raw)
}

// renewAt returns when a successor is due: with a third of the validity left, so
// that failed attempts can be noticed and repaired in time.
func (p *keyPair) renewAt(validity time.Duration) time.Time {
	return p.notAfter.Add(-validity / 3)
}
