package saml

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/oidc"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

const entityID = "https://login.example.com/saml/metadata"

// filled returns metadata of the provider with replacements.
func filled(t *testing.T, replacements ...string) string {
	t.Helper()
	return strings.NewReplacer(replacements...).Replace(fixture.ProviderMetadata(t, entityID))
}

// certified returns it with something else in the place of the certificate.
func certified(t *testing.T, text string) string {
	t.Helper()
	return regexp.MustCompile("X509Certificate>[^<]*<").ReplaceAllString(filled(t), "X509Certificate>"+text+"<")
}

func backend(text string) *keystonev1alpha1.KeystoneIdentityBackend {
	b := &keystonev1alpha1.KeystoneIdentityBackend{}
	b.Name = "company"
	b.Spec.SAML = &keystonev1alpha1.SAMLSpec{
		EntityID: entityID, Metadata: keystonev1alpha1.SAMLMetadata{Inline: text},
		Attributes: []keystonev1alpha1.SAMLAttribute{
			{Claim: "email", Name: "urn:oid:0.9.2342.19200300.100.1.3"}, {Claim: "unused", Name: "secret"},
		},
	}
	b.Spec.Mappings = []keystonev1alpha1.MappingRule{{
		Local:  []keystonev1alpha1.LocalMapping{{User: &keystonev1alpha1.MappedUser{Name: "{0}"}}},
		Remote: []keystonev1alpha1.RemoteMapping{{Claim: "NAME_ID"}, {Claim: "email"}, {Claim: "groups"}, {Claim: "iss"}},
	}}
	return b
}

func TestMetadataThatCannotBeUsedIsRefusedWithItsReason(t *testing.T) {
	const descriptor = "md:IDPSSODescriptor"
	for says, text := range map[string]string{
		"it is no XML document":                             "<a",
		"it has a document type declaration":                strings.Replace(filled(t), "<md:Entity", `<!DOCTYPE a SYSTEM "b"><md:Entity`, 1),
		`its root is "EntitiesDescriptor"`:                  filled(t, "EntityDescriptor", "EntitiesDescriptor"),
		`its root is "EntityDescriptor" and not`:            filled(t, "SAML:2.0:metadata\"", "SAML:1.1:metadata\""),
		`its entityID is "https://other": set spec.saml`:    filled(t, entityID, "https://other"),
		"it has 0 IDPSSODescriptors":                        filled(t, descriptor, "md:SPSSODescriptor"),
		"it has expired on 2020-01-02: get a new one":       filled(t, "entityID=", `validUntil="2020-01-02T03:04:05Z" entityID=`),
		`its validUntil "soon" is no time`:                  filled(t, "entityID=", `validUntil="soon" entityID=`),
		"it has no SingleSignOnService with the binding":    filled(t, "HTTP-Redirect", "SOAP"),
		`its SingleSignOnService is at "http://login`:       filled(t, "https://login.example.com/sso", "http://login.example.com/sso"),
		"it has no certificate of the provider":             filled(t, `use="signing"`, `use="encryption"`),
		"one of its certificates is not in base64":          certified(t, "???"),
		"one of its certificates cannot be read":            certified(t, "YWJj"),
		"metadata.inline cannot be used: it has expired on": filled(t, descriptor+" ", descriptor+` validUntil="2020-01-02T03:04:05Z" `),
	} {
		if _, err := Files(backend(text), nil, time.Now()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", says, err)
		}
	}
}

func TestTheConditionSaysWhenMetadataAndCertificatesEnd(t *testing.T) {
	end := time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
	now := end.AddDate(0, 0, -1)
	for want, c := range map[string]struct{ until, now time.Time }{
		"Its metadata has no end, and its certificate expires on 2031-01-02":                {time.Time{}, now},
		"Its metadata is valid until 2032-03-04, and its certificate expires on 2031-01-02": {time.Date(2032, 3, 4, 0, 0, 0, 0, time.UTC), now},
		"Its metadata has no end, and its certificate has expired on 2031-01-02":            {time.Time{}, end},
	} {
		if got := (Metadata{ValidUntil: c.until, CertificateEnd: end}).Ends(c.now); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	found, err := Parse([]byte(filled(t, "entityID=", `validUntil="2999-01-02T03:04:05Z" entityID=`)), entityID, time.Now())
	if err != nil || found.ValidUntil.Year() != 2999 || time.Until(found.CertificateEnd) > time.Hour {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestOnlyAttributesThatMappingsUseBecomeClaims(t *testing.T) {
	files, err := Files(backend(filled(t)), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "provider.conf", files[oidc.ProviderFile])
}

func TestMetadataOfASecretIsThatOfItsKey(t *testing.T) {
	b, text := backend(""), filled(t)
	for key, name := range map[string]string{"metadata.xml": "", "idp.xml": "idp.xml"} {
		b.Spec.SAML.Metadata.SecretRef = &commonv1.SecretRefSpec{Name: "login", Key: name}
		files, err := Files(b, &corev1.Secret{Data: map[string][]byte{key: []byte(text)}}, time.Now())
		if err != nil || files[MetadataFile] != text {
			t.Errorf("%s: got %v, %v", key, files, err)
		}
		if _, err := Files(b, &corev1.Secret{}, time.Now()); err == nil || !strings.Contains(err.Error(), key+" of Secret login of spec.saml") {
			t.Errorf("got %v", err)
		}
	}
}

func TestTheMetadataOfKeystoneHasItsCertificateAndNoMarkupOfOthers(t *testing.T) {
	pair, err := NewKeyPair("keystone", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.X509KeyPair(pair[corev1.TLSCertKey], pair[corev1.TLSPrivateKeyKey]); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(pair[corev1.TLSCertKey])
	if parsed, err := x509.ParseCertificate(block.Bytes); err != nil || time.Until(parsed.NotAfter) < 19*365*24*time.Hour {
		t.Errorf("got %v, %v", parsed.NotAfter, err)
	}
	const url = "https://keystone.example.com/v3/mellon"
	text, err := ServiceProvider{EntityID: `https://a/?b="&c`, URL: url, Certificate: string(pair[corev1.TLSCertKey])}.Document()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		EntityID string `xml:"entityID,attr"`
		Role     struct {
			Keys     []key    `xml:"KeyDescriptor"`
			Consumer endpoint `xml:"AssertionConsumerService"`
		} `xml:"SPSSODescriptor"`
	}
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.EntityID != `https://a/?b="&c` || got.Role.Consumer.Location != url+"/postResponse" || len(got.Role.Keys) != 2 {
		t.Errorf("got %+v", got)
	}
	if _, err := (ServiceProvider{Certificate: "hidden"}).Document(); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v", err)
	}
}
