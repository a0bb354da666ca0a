//go:build integration

package controller_test

import (
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/certificate"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

const authoritySecret = "database-ca"

// certificates returns the data of a Secret with a CA bundle, a certificate and
// its key.
func certificates(t *testing.T) map[string]string {
	t.Helper()
	cert, key := certificate.SelfSigned(t)
	return map[string]string{"ca.crt": string(cert), "tls.crt": string(cert), "tls.key": string(key)}
}

// encrypted returns a Keystone of the mode with TLS to its database, converging
// under an operator of its own.
func encrypted(t *testing.T, m mode, client string) *world {
	t.Helper()
	c, namespace := newNamespace(t, m.inputs)
	k := m.keystone(namespace, testutil.Name)
	k.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{
		Enabled: true, CABundleSecretRef: &commonv1.SecretRefSpec{Name: authoritySecret},
		ClientCertSecretRef: &commonv1.SecretRefSpec{Name: client},
	}
	w := &world{T: t, client: c, namespace: namespace, keystone: k, operator: testutil.Start(t, asOperator, namespace)}
	objects.Create(t, c, k)
	return w
}

// tlsCondition waits for what DatabaseTLSReady says.
func (w *world) tlsCondition(status metav1.ConditionStatus, reason string, says ...string) {
	w.Helper()
	expect.Condition(w.T, w.client, w.keystone, keystonev1alpha1.ConditionDatabaseTLSReady, status, reason, says...)
}

func TestCertificatesOfTheDatabaseAreAwaitedAndChecked(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		w := encrypted(t, m, "client")
		w.tlsCondition(metav1.ConditionFalse, "CertificatePending", authoritySecret, "spec.database.tls.caBundleSecretRef", "ca.crt")
		objects.Create(t, w.client, secret(w.namespace, authoritySecret, map[string]string{"ca.crt": "not a certificate"}))
		w.tlsCondition(metav1.ConditionFalse, "CertificatePending", authoritySecret, "no certificate in PEM form")
		good := certificates(t)
		setSecret(w, authoritySecret, good)
		w.tlsCondition(metav1.ConditionFalse, "CertificatePending", "Secret client", "spec.database.tls.clientCertSecretRef", "tls.key")
		other := certificates(t)
		objects.Create(t, w.client, secret(w.namespace, "client", map[string]string{"tls.crt": good["tls.crt"], "tls.key": other["tls.key"]}))
		w.tlsCondition(metav1.ConditionFalse, "CertificatePending", "Secret client", "does not belong to the certificate")
		setSecret(w, "client", good)
		w.tlsCondition(metav1.ConditionTrue, "ExternallyManaged")
		ready(t, w.client, w.keystone)
	})
}

func TestCertManagerIssuesTheCertificateOfAManagedDatabase(t *testing.T) {
	t.Parallel()
	w := encrypted(t, modes[1], "keystone-db-client")
	good := certificates(t)
	objects.Create(t, w.client, secret(w.namespace, authoritySecret, good))
	w.tlsCondition(metav1.ConditionFalse, "CertificatePending", "openstack-db-ca-issuer", "check that its controller runs")

	issued := &certmanagerv1.Certificate{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "keystone-db-client"}}
	report := func(status cmmeta.ConditionStatus, reason, message string) {
		t.Helper()
		objects.ChangeStatus(t, w.client, issued, func(c *certmanagerv1.Certificate) {
			c.Status.Conditions = []certmanagerv1.CertificateCondition{{
				Type: certmanagerv1.CertificateConditionReady, Status: status, Reason: reason, Message: message,
				ObservedGeneration: c.Generation,
			}}
		})
	}
	report(cmmeta.ConditionFalse, "IssuerNotFound", "there is no such issuer")
	w.tlsCondition(metav1.ConditionFalse, "CertificatePending", "IssuerNotFound", "there is no such issuer")
	objects.Create(t, w.client, secret(w.namespace, issued.Name, good))
	report(cmmeta.ConditionTrue, "Ready", "issued")
	w.tlsCondition(metav1.ConditionTrue, "CertificateIssued")
	ready(t, w.client, w.keystone)

	objects.Change(t, w.client, w.keystone, func(k *keystonev1alpha1.Keystone) { k.Spec.Database.TLS.Enabled = false })
	w.tlsCondition(metav1.ConditionTrue, "NotRequired")
	expect.Gone(t, w.client, issued)
}
