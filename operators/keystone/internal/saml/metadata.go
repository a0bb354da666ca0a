// Package saml renders what a Keystone needs whose users log in at SAML 2.0 identity providers: the files of each
// provider, and what describes Keystone to them.
package saml

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Metadata is what the metadata of a provider says about itself.
type Metadata struct {
	// ValidUntil is when it ends, zero if it does not, and CertificateEnd when the first of its certificates does.
	ValidUntil, CertificateEnd time.Time
}

// The parts of a document (https://docs.oasis-open.org/security/saml/v2.0/saml-metadata-2.0-os.pdf) that logins need.
type (
	document struct {
		XMLName    xml.Name
		EntityID   string `xml:"entityID,attr"`
		ValidUntil string `xml:"validUntil,attr"`
		Roles      []role `xml:"urn:oasis:names:tc:SAML:2.0:metadata IDPSSODescriptor"`
	}
	role struct {
		ValidUntil string     `xml:"validUntil,attr"`
		Keys       []key      `xml:"urn:oasis:names:tc:SAML:2.0:metadata KeyDescriptor"`
		Logins     []endpoint `xml:"urn:oasis:names:tc:SAML:2.0:metadata SingleSignOnService"`
	}
	key struct {
		Use          string   `xml:"use,attr"`
		Certificates []string `xml:"http://www.w3.org/2000/09/xmldsig# KeyInfo>X509Data>X509Certificate"`
	}
	endpoint struct {
		Binding  string `xml:"Binding,attr"`
		Location string `xml:"Location,attr"`
	}
)

const (
	namespace       = "urn:oasis:names:tc:SAML:2.0:metadata"
	redirectBinding = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
)

// Parse reads the metadata of the provider with the entity ID. The error says what is wrong with it.
func Parse(text []byte, entityID string, now time.Time) (Metadata, error) {
	if err := checkXML(text); err != nil {
		return Metadata{}, err
	}
	var parsed document
	if err := xml.Unmarshal(text, &parsed); err != nil {
		return Metadata{}, fmt.Errorf("it is no XML document: %w", err)
	}
	switch {
	case parsed.XMLName.Space != namespace || parsed.XMLName.Local != "EntityDescriptor":
		return Metadata{}, fmt.Errorf("its root is %q and not EntityDescriptor of SAML 2.0: "+
			"take the document of the provider itself, and not that of a federation", parsed.XMLName.Local)
	case parsed.EntityID != entityID:
		return Metadata{}, fmt.Errorf("its entityID is %.300q: set spec.saml.entityID to exactly that", parsed.EntityID)
	case len(parsed.Roles) != 1:
		return Metadata{}, fmt.Errorf("it has %d IDPSSODescriptors, and must have one: "+
			"take the document of an identity provider, and not that of a service provider", len(parsed.Roles))
	}
	return parsed.Roles[0].read(parsed.ValidUntil, now)
}

// checkXML refuses a document type, which could name files for the proxy to read.
func checkXML(text []byte) error {
	for tokens := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := tokens.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("it is no XML document: %w", err)
		}
		if _, is := token.(xml.Directive); is {
			return errors.New("it has a document type declaration: remove that")
		}
	}
}

func (r role) read(validUntil string, now time.Time) (found Metadata, err error) {
	for _, text := range []string{validUntil, r.ValidUntil} {
		if text == "" {
			continue
		}
		end, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
		if err != nil {
			return found, fmt.Errorf("its validUntil %.100q is no time", text)
		}
		found.ValidUntil = earlier(found.ValidUntil, end)
	}
	if !found.ValidUntil.IsZero() && !now.Before(found.ValidUntil) {
		return found, fmt.Errorf("it has expired on %s: get a new one from the provider", day(found.ValidUntil))
	}
	if err := checkLogins(r.Logins); err != nil {
		return found, err
	}
	for _, key := range r.Keys {
		if key.Use == "encryption" {
			continue
		}
		for _, encoded := range key.Certificates {
			end, err := endOf(encoded)
			if err != nil {
				return found, err
			}
			found.CertificateEnd = earlier(found.CertificateEnd, end)
		}
	}
	if found.CertificateEnd.IsZero() {
		return found, errors.New("it has no certificate of the provider, without which no login can be verified")
	}
	return found, nil
}

func checkLogins(logins []endpoint) error {
	for _, login := range logins {
		if login.Binding != redirectBinding {
			continue
		}
		if !strings.HasPrefix(login.Location, "https://") {
			return fmt.Errorf("its SingleSignOnService is at %.300q, which is not https", login.Location)
		}
		return nil
	}
	return errors.New("it has no SingleSignOnService with the binding HTTP-Redirect")
}

func endOf(encoded string) (time.Time, error) {
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(encoded), ""))
	if err != nil {
		return time.Time{}, errors.New("one of its certificates is not in base64")
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return time.Time{}, errors.New("one of its certificates cannot be read")
	}
	return certificate.NotAfter, nil
}

// earlier returns the earlier one of two times. Zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Ends says when the document and its certificates end.
func (m Metadata) Ends(now time.Time) string {
	document := "Its metadata has no end"
	if !m.ValidUntil.IsZero() {
		document = "Its metadata is valid until " + day(m.ValidUntil)
	}
	verb := "expires"
	if !now.Before(m.CertificateEnd) {
		verb = "has expired"
	}
	return fmt.Sprintf("%s, and its certificate %s on %s", document, verb, day(m.CertificateEnd))
}
