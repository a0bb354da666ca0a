package saml

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// keyBits is the length of the key. Providers need not know keys of other kinds.
	keyBits = 3072
	// keyYears is for how long the certificate is valid. Providers know it from the metadata and trust that alone,
	// so the key is replaced when somebody wants another one.
	keyYears = 20
)

// NewKeyPair returns a key and a certificate of Keystone as the data of a Secret. The name is for people only.
func NewKeyPair(name string, now time.Time) (map[string][]byte, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("the key of the service provider: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("the number of a certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(keyYears, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, fmt.Errorf("the certificate of the service provider: %w", err)
	}
	return map[string][]byte{
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}),
	}, nil
}

//go:embed files/service-provider.xml
var serviceProviderTemplate string

var serviceProvider = template.Must(template.New("service-provider.xml").Funcs(template.FuncMap{
	"xml": escape, "uses": func() []string { return []string{"signing", "encryption"} },
}).Parse(serviceProviderTemplate))

// ServiceProvider is what the metadata of Keystone depends on.
type ServiceProvider struct {
	// EntityID is the name of Keystone, and URL that of SAML's own requests.
	EntityID, URL string
	// Certificate is that of Keystone in PEM form.
	Certificate string
}

// Document returns the metadata of Keystone for a provider.
func (s ServiceProvider) Document() (string, error) {
	block, _ := pem.Decode([]byte(s.Certificate))
	if block == nil || block.Type != "CERTIFICATE" {
		return "", errors.New("the Secret of the service provider has no certificate: delete it")
	}
	s.Certificate = base64.StdEncoding.EncodeToString(block.Bytes)
	var rendered strings.Builder
	if err := serviceProvider.Execute(&rendered, s); err != nil {
		return "", fmt.Errorf("the metadata of the service provider: %w", err)
	}
	return rendered.String(), nil
}

func escape(text string) (string, error) {
	var escaped bytes.Buffer
	err := xml.EscapeText(&escaped, []byte(text))
	return escaped.String(), err
}
