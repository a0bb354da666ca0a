package envtest

import (
	"context"
	"fmt"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// User adds a user to the API server who may do, in all namespaces, what the
// rules in the file say and nothing else. The file holds a YAML list of RBAC
// rules, as the charts of the operators do.
func (e *Env) User(ctx context.Context, name, rulesFile string) (*rest.Config, error) {
	data, err := os.ReadFile(rulesFile)
	if err != nil {
		return nil, fmt.Errorf("read the rules of user %s: %w", name, err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := yaml.UnmarshalStrict(data, &role.Rules); err != nil {
		return nil, fmt.Errorf("parse the rules of user %s in %s: %w", name, rulesFile, err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return nil, err
	}
	for _, obj := range []client.Object{role, binding} {
		if err := c.Create(ctx, obj); err != nil {
			return nil, fmt.Errorf("give user %s its rights: %w", name, err)
		}
	}
	user, err := e.environment.AddUser(crenvtest.User{Name: name}, &rest.Config{QPS: -1})
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	return user.Config(), nil
}
