package conformance

import (
	"errors"
	"net/url"

	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// editedConnection writes a valid URL with other logins into the connection Secret, and also
// removes what the operator has noted on it.
func (i *Instance[T]) editedConnection() {
	i.Helper()
	connection, deploy := i.connection(), i.deployment()
	expect.Exists(i.T, i.Admin, connection)
	expect.Exists(i.T, i.Admin, deploy)
	before, written, template := i.databaseUser(), connection.Data, deploy.Spec.Template
	checks := len(i.Jobs.Runs(i.namespace(), i.name()+"-"+schema.TaskCheck))
	parsed, err := url.Parse(string(written["connection"]))
	if err != nil {
		i.Fatal("the connection is no URL")
	}
	name := parsed.User.Username()
	for _, user := range []string{name, name + "-standby", "other"} {
		parsed.User = url.UserPassword(user, "edited")
		objects.Change(i.T, i.Admin, connection, func(s *corev1.Secret) {
			s.Data = map[string][]byte{"connection": []byte(parsed.String())}
			if parsed.User.Username() != name {
				s.Annotations = nil
			}
		})
		expect.Object(i.T, i.Admin, connection, func() error {
			if !cmp.Equal(written, connection.Data) {
				return errors.New("the connection is not put back")
			}
			return nil
		})
		i.Ready()
	}
	i.settle()
	expect.Exists(i.T, i.Admin, deploy)
	if diff := cmp.Diff(template, deploy.Spec.Template); diff != "" {
		i.Errorf("the pods were replaced (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Spec, i.databaseUser().Spec); diff != "" {
		i.Errorf("the user of the database (-before +after):\n%s", diff)
	}
	if after := len(i.Jobs.Runs(i.namespace(), i.name()+"-"+schema.TaskCheck)); after != checks {
		i.Errorf("the login was tried %d times", after-checks)
	}
	var users mariadbv1alpha1.UserList
	if err := i.Admin.List(i.Context(), &users, client.InNamespace(i.namespace())); err != nil {
		i.Fatal(err)
	}
	if len(users.Items) != 1 {
		i.Errorf("the database has %d users", len(users.Items))
	}
}

// databaseUser returns the user of a managed database.
func (i *Instance[T]) databaseUser() *mariadbv1alpha1.User {
	i.Helper()
	user := &mariadbv1alpha1.User{}
	user.Namespace, user.Name = i.namespace(), i.name()
	expect.Exists(i.T, i.Admin, user)
	return user
}
