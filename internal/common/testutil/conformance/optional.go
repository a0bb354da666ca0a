package conformance

import (
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/testutil/certificate"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// optional verifies the optional parts of a spec.
func (s suite[T]) optional(t *testing.T) {
	each(t, []proof{
		{"a network policy and an autoscaler need no requests once applied", s.networkPolicyAndAutoscaler},
		{"options of a control plane have effect unless the service has its own", s.withOptions(s.globalOptions)},
		{"certificates of the user are awaited and checked", s.withData(s.certificatesOfTheUser)},
		{"the certificate of a managed database is issued", s.withData(s.issuedCertificate)},
		{"the MariaDB determines the host and TLS of the connection", s.withData(s.serverDecides)},
	})
}

func (s suite[T]) networkPolicyAndAutoscaler(t *testing.T) {
	t.Parallel()
	i := s.converged(t, brownfield)
	i.change(func(spec *commonv1.ServiceSpec) { spec.Replicas = 3 })
	i.Ready()
	i.change(func(spec *commonv1.ServiceSpec) {
		spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
			Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{"team": "cloud"}}},
			// The API server sets the default protocol.
			AdditionalEgress: []networkingv1.NetworkPolicyEgressRule{{
				Ports: []networkingv1.NetworkPolicyPort{{Port: ptr.To(intstr.FromInt32(636))}},
			}},
		}
		spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 5, TargetCPUUtilization: new(int32(80))}
	})
	i.Condition(vocabulary.ConditionNetworkPolicyReady, metav1.ConditionTrue, vocabulary.ReasonNetworkPolicyReady)
	i.Condition(vocabulary.ConditionHPAReady, metav1.ConditionTrue, vocabulary.ReasonHPAReady)
	i.Ready()
	i.settle()
	i.replicas(3)
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name()}}
	report := func(status corev1.ConditionStatus) {
		t.Helper()
		objects.ChangeStatus(t, s.Admin, autoscaler, func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{
				Type: autoscalingv2.ScalingActive, Status: status, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour)),
				Reason: "FailedGetResourceMetric", Message: "no metrics returned from resource metrics API",
			}}
		})
	}
	report(corev1.ConditionFalse)
	i.Fails(vocabulary.ConditionHPAReady, vocabulary.ReasonHPANotScaling, "no metrics returned", "metrics-server")
	i.Fails(vocabulary.ConditionReady, vocabulary.ReasonNotAllReady, vocabulary.ConditionHPAReady)
	report(corev1.ConditionTrue)
	i.Ready()
	// The autoscaler's decision is kept.
	deployment := i.deployment()
	objects.Change(t, s.Admin, deployment, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(5)) })
	i.Operator.Sees(t, deployment)
	i.settle()
	i.replicas(5)
	i.putsRight([]Drift{
		DriftOf(&networkingv1.NetworkPolicy{}, i.name(), "ingress",
			func(n *networkingv1.NetworkPolicy) *[]networkingv1.NetworkPolicyIngressRule { return &n.Spec.Ingress }, nil),
		DriftOf(&autoscalingv2.HorizontalPodAutoscaler{}, i.name(), "maxReplicas",
			func(h *autoscalingv2.HorizontalPodAutoscaler) *int32 { return &h.Spec.MaxReplicas }, 9),
	})

	i.change(func(spec *commonv1.ServiceSpec) { spec.NetworkPolicy, spec.Autoscaling = nil, nil })
	i.Condition(vocabulary.ConditionNetworkPolicyReady, metav1.ConditionTrue, vocabulary.ReasonNetworkPolicyNotRequired)
	i.Condition(vocabulary.ConditionHPAReady, metav1.ConditionTrue, vocabulary.ReasonHPANotRequired)
	i.Ready()
	i.settle()
	i.replicas(3)
}

// replicas fails the test unless the Deployment has that many.
func (i *Instance[T]) replicas(want int32) {
	i.Helper()
	deployment := i.deployment()
	expect.Exists(i.T, i.Admin, deployment)
	if got := ptr.Deref(deployment.Spec.Replicas, 0); got != want {
		i.Errorf("%d replicas, want %d", got, want)
	}
}

// certificates returns the data of a Secret with a CA bundle, a certificate and its key.
func certificates(t *testing.T) map[string]string {
	t.Helper()
	cert, key := certificate.SelfSigned(t)
	return map[string]string{"ca.crt": string(cert), "tls.crt": string(cert), "tls.key": string(key)}
}

const authority = "database-ca"

// encrypted is an instance with TLS to its database, with the client certificate in the
// Secret.
func (s suite[T]) encrypted(t *testing.T, m mode, client string) *Instance[T] {
	t.Helper()
	i := s.prepared(t, m)
	i.data().Database.TLS = &commonv1.DatabaseTLSSpec{
		Enabled: true, CABundleSecretRef: &commonv1.SecretRefSpec{Name: authority},
		ClientCertSecretRef: &commonv1.SecretRefSpec{Name: client},
	}
	i.Create()
	return i
}

func (s suite[T]) certificatesOfTheUser(t *testing.T) {
	for _, m := range s.modes() {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			i := s.encrypted(t, m, "client")
			pending := func(says ...string) {
				t.Helper()
				i.Fails(vocabulary.ConditionDatabaseTLSReady, vocabulary.ReasonCertificatePending, says...)
			}
			pending(authority, "spec.database.tls.caBundleSecretRef", "ca.crt")
			objects.Create(t, s.Admin, i.secret(authority, map[string]string{"ca.crt": "not a certificate"}))
			pending(authority, "no certificate in PEM form")
			good, other := certificates(t), certificates(t)
			i.setSecret(authority, good)
			pending("Secret client", "spec.database.tls.clientCertSecretRef", "tls.key")
			objects.Create(t, s.Admin, i.secret("client", map[string]string{"tls.crt": good["tls.crt"], "tls.key": other["tls.key"]}))
			pending("Secret client", "does not belong to the certificate")
			i.setSecret("client", good)
			i.Condition(vocabulary.ConditionDatabaseTLSReady, metav1.ConditionTrue, vocabulary.ReasonExternallyManaged)
			i.Ready()
		})
	}
}

func (s suite[T]) issuedCertificate(t *testing.T) {
	t.Parallel()
	name := s.Definition.CodeName + "-db-client"
	i := s.encrypted(t, managed, name)
	const condition = vocabulary.ConditionDatabaseTLSReady
	good := certificates(t)
	objects.Create(t, s.Admin, i.secret(authority, good))
	i.Fails(condition, vocabulary.ReasonCertificatePending, "openstack-db-ca-issuer", "check that its controller runs")

	issued := &certmanagerv1.Certificate{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: name}}
	report := func(status cmmeta.ConditionStatus, reason, message string) {
		t.Helper()
		objects.ChangeStatus(t, s.Admin, issued, func(c *certmanagerv1.Certificate) {
			c.Status.Conditions = []certmanagerv1.CertificateCondition{{
				Type: certmanagerv1.CertificateConditionReady, Status: status, Reason: reason, Message: message,
				ObservedGeneration: c.Generation,
			}}
		})
	}
	report(cmmeta.ConditionFalse, "IssuerNotFound", "there is no such issuer")
	i.Fails(condition, vocabulary.ReasonCertificatePending, "IssuerNotFound", "there is no such issuer")
	objects.Create(t, s.Admin, i.secret(name, good))
	report(cmmeta.ConditionTrue, "Ready", "issued")
	i.Condition(condition, metav1.ConditionTrue, vocabulary.ReasonCertificateIssued)
	i.Ready()

	i.changeData(func(spec *commonv1.DataSpec) { spec.Database.TLS.Enabled = false })
	i.Condition(condition, metav1.ConditionTrue, vocabulary.ReasonNotRequired)
	expect.Gone(t, s.Admin, issued)
}
