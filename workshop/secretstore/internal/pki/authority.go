// Package pki issues certificates for a cluster that lives for days.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"time"
)

// validity is longer than a local cluster lives: nothing renews certificates.
const validity = 5 * 365 * 24 * time.Hour

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// PEM is the authority's own certificate.
	PEM string
}

// Subject describes the holder of a certificate.
type Subject struct {
	CommonName  string   `json:"commonName"`
	DNSNames    []string `json:"dnsNames"`
	IPAddresses []string `json:"ipAddresses"`
}

// NewAuthority generates an authority with its own key. Its certificates are
// valid for five years.
func NewAuthority(name string, now time.Time) (*Authority, error) {
	a := &Authority{certificate: &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	der, err := a.sign(a.certificate, a.key)
	if err != nil {
		return nil, err
	}
	a.PEM = encode("CERTIFICATE", der)
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// sign returns the certificate of a key.
func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return der, nil
}

// Issue returns a certificate for a server and client, and its key, as PEM.
func (a *Authority) Issue(subject Subject) (certificate, key string, err error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: subject.CommonName}, NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter,
		DNSNames: subject.DNSNames, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, text := range subject.IPAddresses {
		address := net.ParseIP(text)
		if address == nil {
			return "", "", fmt.Errorf("%q is not an IP address", text)
		}
		template.IPAddresses = append(template.IPAddresses, address)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	der, err := a.sign(template, private)
	if err != nil {
		return "", "", err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", encoded), err
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
