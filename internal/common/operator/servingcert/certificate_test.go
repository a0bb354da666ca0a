package servingcert

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
)

var testNames = []string{"identity.keystone-system.svc", "identity.keystone-system.svc.cluster.local"}

func TestAnIssuedCertificateIsAcceptedUnderEveryNameForTheWholeValidity(t *testing.T) {
	secret := issuedSecret(t, 48*time.Hour, nil)
	for _, at := range []time.Time{time.Now(), time.Now().Add(47 * time.Hour)} {
		if _, err := load(secret, testNames, at); err != nil {
			t.Errorf("refused at %s: %v", at, err)
		}
	}
	if _, err := load(secret, testNames, time.Now().Add(49*time.Hour)); err == nil {
		t.Error("still accepted an hour after its validity")
	}
}

func TestACertificateToleratesClockSkewOfClients(t *testing.T) {
	now := time.Now().Add(100 * time.Hour)
	data, err := issue(testNames, now, 48*time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	for after, valid := range map[time.Duration]bool{
		// As seen by clients, whose clocks are not ahead.
		-100 * time.Hour: true,
		0:                true, 47 * time.Hour: true, 49 * time.Hour: false,
	} {
		if _, err := load(&corev1.Secret{Data: data}, testNames, now.Add(after)); (err == nil) != valid {
			t.Errorf("%s later: %v, want it valid: %t", after, err, valid)
		}
	}
}

func TestARenewalIsDueWithAThirdOfTheValidityLeft(t *testing.T) {
	const validity = 30 * time.Hour
	pair, err := load(issuedSecret(t, validity, nil), testNames, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	left := time.Until(pair.renewAt(validity))
	if left < 19*time.Hour || left > 20*time.Hour {
		t.Errorf("due in %s, want just under 20h of the 30h", left)
	}
}

func TestACertificateThatCannotBeServedIsRefused(t *testing.T) {
	other := issuedSecret(t, time.Hour, nil).Data
	const noPair, key = "not a certificate with its key", corev1.TLSPrivateKeyKey
	cases := map[string]struct {
		damage func(data map[string][]byte)
		want   string
	}{
		"no certificate":       {func(d map[string][]byte) { delete(d, corev1.TLSCertKey) }, noPair},
		"garbage":              {func(d map[string][]byte) { d[corev1.TLSCertKey] = []byte("garbage") }, noPair},
		"key of another":       {func(d map[string][]byte) { d[key] = other[key] }, noPair},
		"no authority":         {func(d map[string][]byte) { d[caKey] = nil }, "holds no certificate"},
		"authority of another": {func(d map[string][]byte) { d[caKey] = other[caKey] }, "cannot serve identity.keystone-system.svc"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			secret := issuedSecret(t, time.Hour, nil)
			c.damage(secret.Data)
			_, err := load(secret, testNames, time.Now())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestACertificateForAnotherServiceIsRefused(t *testing.T) {
	_, err := load(issuedSecret(t, time.Hour, nil), []string{"renamed.keystone-system.svc"}, time.Now())
	if err == nil {
		t.Fatal("accepted a certificate that does not name the Service")
	}
}

func TestAnErrorNeverQuotesThePrivateKey(t *testing.T) {
	secret := issuedSecret(t, time.Hour, nil)
	key := string(secret.Data[corev1.TLSPrivateKeyKey])
	secret.Data[corev1.TLSCertKey] = []byte(key)
	_, err := load(secret, testNames, time.Now())
	if err == nil {
		t.Fatal("accepted a key in place of a certificate")
	}
	for line := range strings.Lines(key) {
		if strings.Contains(err.Error(), strings.TrimSpace(line)) {
			t.Fatalf("the error holds a line of the key: %v", err)
		}
	}
}

func TestARenewedBundleListsTheNewCAFirstAndKeepsEarlierOnes(t *testing.T) {
	first := issuedSecret(t, time.Hour, nil)
	firstAuthorities := parsed(t, first.Data[caKey])
	second := issuedSecret(t, time.Hour, firstAuthorities)
	bundle := parsed(t, second.Data[caKey])
	if len(bundle) != 2 || !bundle[1].Equal(firstAuthorities[0]) {
		t.Fatalf("bundle of %d certificates, want the new and the earlier authority", len(bundle))
	}
	// A certificate that another replica still presents stays trusted.
	first.Data[caKey] = second.Data[caKey]
	if _, err := load(first, testNames, time.Now()); err != nil {
		t.Errorf("the earlier certificate is not trusted by the new bundle: %v", err)
	}
}

func TestTheCAKeyIsDiscardedAfterIssuing(t *testing.T) {
	secret := issuedSecret(t, time.Hour, nil)
	want := []string{caKey, corev1.TLSCertKey, corev1.TLSPrivateKeyKey}
	for key := range secret.Data {
		if !slices.Contains(want, key) {
			t.Errorf("the Secret holds %q", key)
		}
	}
	authority := parsed(t, secret.Data[caKey])[0]
	pair, err := load(secret, testNames, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(authority.PublicKey, pair.certificate.Leaf.PublicKey) {
		t.Error("tls.key is the authority's key, want the authority's key forgotten")
	}
}

func TestExpiredAndDuplicateCAsAreDroppedFromTheBundle(t *testing.T) {
	short, long := issuedSecret(t, time.Hour, nil).Data[caKey], issuedSecret(t, 3*time.Hour, nil).Data[caKey]
	both := append(append([]byte{}, short...), long...)
	cases := map[string]struct {
		after   time.Duration
		bundles [][]byte
		want    int
	}{
		"all valid":                {0, [][]byte{both}, 2},
		"the same in two bundles":  {0, [][]byte{both, long}, 2},
		"one expired":              {2 * time.Hour, [][]byte{both}, 1},
		"an unreadable bundle too": {0, [][]byte{[]byte("garbage"), long}, 1},
		"nothing":                  {0, [][]byte{nil}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := unexpired(time.Now().Add(c.after), c.bundles...); len(got) != c.want {
				t.Errorf("%d authorities, want %d", len(got), c.want)
			}
		})
	}
}

func issuedSecret(t *testing.T, validity time.Duration, earlier []*x509.Certificate) *corev1.Secret {
	t.Helper()
	data, err := issue(testNames, time.Now(), validity, earlier)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{Data: data}
}

func parsed(t *testing.T, bundle []byte) []*x509.Certificate {
	t.Helper()
	certificates, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return certificates
}
