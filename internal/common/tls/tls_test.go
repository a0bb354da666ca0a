package tls_test

import (
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/c5c3/forge/internal/common/testutil/certificate"
	"github.com/c5c3/forge/internal/common/tls"
)

func TestABundleNeedsWellFormedCertificates(t *testing.T) {
	first, key := certificate.SelfSigned(t)
	second, _ := certificate.SelfSigned(t)
	broken := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("nonsense")})
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"one certificate":     {first, ""},
		"several":             {append(append([]byte("a comment\n"), first...), second...), ""},
		"nothing":             {nil, "no certificate"},
		"text":                {[]byte("ca"), "no certificate"},
		"only a key":          {key, "no certificate"},
		"a malformed one":     {append(first, broken...), "certificate 2 of the bundle is malformed"},
		"base64 of something": {broken, "malformed"},
	} {
		err := tls.CheckBundle(test.text)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

func TestAMismatchedKeyPairIsRejected(t *testing.T) {
	cert, key := certificate.SelfSigned(t)
	_, other := certificate.SelfSigned(t)
	if err := tls.CheckKeyPair(cert, key); err != nil {
		t.Errorf("a good pair: %v", err)
	}
	for name, bad := range map[string][]byte{"another key": other, "no key": nil, "text": []byte("key")} {
		if err := tls.CheckKeyPair(cert, bad); err == nil || !strings.Contains(err.Error(), "private key") {
			t.Errorf("%s: error %v, want one about the private key", name, err)
		}
	}
}

func TestACertificateThatIsNotIssuedSaysWhy(t *testing.T) {
	cert := &certmanagerv1.Certificate{}
	if got := tls.Progress(cert); !strings.Contains(got, "check that its controller runs") {
		t.Errorf("without a condition: %q", got)
	}
	cert.Status.Conditions = []certmanagerv1.CertificateCondition{{
		Type: certmanagerv1.CertificateConditionReady, Status: cmmeta.ConditionFalse, Reason: "IssuerNotFound", Message: "no such issuer",
	}}
	if got := tls.Progress(cert); !strings.Contains(got, "IssuerNotFound: no such issuer") {
		t.Errorf("with a condition: %q", got)
	}
}

func TestABundleIsValidUntilItsFirstCertificateExpires(t *testing.T) {
	long, _, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{Host: "long", MaxAge: 48 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	short, _ := certificate.SelfSigned(t)
	parsed, err := cert.ParseCertsPEM(short)
	if err != nil {
		t.Fatal(err)
	}
	start, end, ok := tls.Validity(slices.Concat(long, short))
	if !ok || !end.Equal(parsed[0].NotAfter) || !start.Equal(parsed[0].NotBefore) {
		t.Errorf("valid from %s to %s (%t), want those of the certificate that begins last and ends first", start, end, ok)
	}
	if _, _, ok := tls.Validity([]byte("nothing")); ok {
		t.Error("a text without a certificate is valid")
	}
}
