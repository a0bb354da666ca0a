package conformance

import (
	"net/url"
	"slices"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// serverDecides verifies that what a MariaDB needs of its clients is not asked of the user.
func (s suite[T]) serverDecides(t *testing.T) {
	t.Run("connects to the primary", func(t *testing.T) {
		t.Parallel()
		i := s.onServer(t, func(m *mariadbv1alpha1.MariaDBSpec) {
			m.Replicas, m.Replication = 3, &mariadbv1alpha1.Replication{Enabled: true}
		})
		i.Ready()
		if host := i.givenURL().Hostname(); host != cluster+"-primary."+i.namespace()+".svc" {
			t.Errorf("the pods connect to %s", host)
		}
		i.settle()
	})
	t.Run("uses the required TLS certificates", func(t *testing.T) {
		t.Parallel()
		i := s.onServer(t, func(m *mariadbv1alpha1.MariaDBSpec) {
			m.TLS = &mariadbv1alpha1.TLS{Enabled: true, Required: ptr.To(true)}
		})
		const condition = vocabulary.ConditionDatabaseTLSReady
		i.Fails(condition, vocabulary.ReasonCertificatePending, "MariaDB "+cluster+" requires TLS", cluster+"-ca-bundle", "ca.crt")
		good := certificates(t)
		objects.Create(t, s.Admin, i.secret(cluster+"-ca-bundle", good))
		i.Fails(condition, vocabulary.ReasonCertificatePending, cluster+"-client-cert", "tls.key")
		objects.Create(t, s.Admin, i.secret(cluster+"-client-cert", good))
		i.Condition(condition, metav1.ConditionTrue, vocabulary.ReasonExternallyManaged, "MariaDB "+cluster)
		i.Ready()
		if options := i.givenURL().Query(); options.Get("ssl_ca") == "" || options.Get("ssl_check_hostname") != "true" {
			t.Errorf("the pods connect with %s", options.Encode())
		}
		for _, secret := range []string{cluster + "-ca-bundle", cluster + "-client-cert"} {
			if !i.mounts(secret) {
				t.Errorf("the pods lack Secret %s", secret)
			}
		}
		i.settle()
	})
}

// onServer creates a resource with a MariaDB that a test describes.
func (s suite[T]) onServer(t *testing.T, describe func(*mariadbv1alpha1.MariaDBSpec)) *Instance[T] {
	t.Helper()
	i := s.prepared(t, managed, cluster)
	server := mariaDB(i.namespace())
	describe(&server.Spec)
	objects.Create(t, s.Admin, server)
	i.Create()
	return i
}

// givenURL returns the URL of the database that pods get.
func (i *Instance[T]) givenURL() *url.URL {
	i.Helper()
	connection := i.connection()
	expect.Exists(i.T, i.Admin, connection)
	parsed, err := url.Parse(string(connection.Data["connection"]))
	if err != nil {
		i.Fatal("the connection is no URL")
	}
	return parsed
}

// mounts reports whether the API pods have a file of the Secret.
func (i *Instance[T]) mounts(secret string) bool {
	i.Helper()
	deployment := i.deployment()
	expect.Exists(i.T, i.Admin, deployment)
	return slices.ContainsFunc(deployment.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(p corev1.VolumeProjection) bool {
			return p.Secret != nil && p.Secret.Name == secret
		})
	})
}
