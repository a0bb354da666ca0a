package conformance

import (
	"net/url"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// serverDecides verifies that what a MariaDB needs of its clients is not asked of the user.
func (s suite[T]) serverDecides(t *testing.T) {
	t.Run("where it takes writes", func(t *testing.T) {
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
