package envtest

import (
	"context"
	"fmt"
	"os"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// User adds a user to the API server who has, in all namespaces, exactly the
// permissions of the rules in the file. The file holds a YAML list of RBAC
// rules, as the charts of the operators do.
func (e *Env) User(ctx context.Context, name, rulesFile string) (*rest.Config, error) {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta}
	binding.RoleRef, binding.Subjects = roleRef("ClusterRole", name), subjects(name)
	return e.user(ctx, "", name, rulesFile, &role.Rules, role, binding)
}

// NamespacedUser is User for one namespace: the rules are in a Role, which
// grants nothing in other namespaces and nothing cluster-scoped.
func (e *Env) NamespacedUser(ctx context.Context, namespace, name, rulesFile string) (*rest.Config, error) {
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	binding := &rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta}
	binding.RoleRef, binding.Subjects = roleRef("Role", name), subjects(name)
	return e.user(ctx, namespace, name, rulesFile, &role.Rules, role, binding)
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

func subjects(name string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
}

// user reads the rules, creates the objects that give them, and returns how the
// user reaches the API server once that grants them.
func (e *Env) user(
	ctx context.Context, namespace, name, rulesFile string, rules *[]rbacv1.PolicyRule, objects ...client.Object,
) (*rest.Config, error) {
	data, err := os.ReadFile(rulesFile)
	if err != nil {
		return nil, fmt.Errorf("read the rules of user %s: %w", name, err)
	}
	if err := yaml.UnmarshalStrict(data, rules); err != nil {
		return nil, fmt.Errorf("parse the rules of user %s in %s: %w", name, rulesFile, err)
	}
	for _, obj := range objects {
		if err := e.admin.Create(ctx, obj); err != nil {
			return nil, fmt.Errorf("give user %s its rights: %w", name, err)
		}
	}
	// The authorizer learns about them through watches.
	if err := expect.Until(ctx, func(ctx context.Context) error { return granted(ctx, e.admin, namespace, name, *rules) }); err != nil {
		return nil, fmt.Errorf("wait until user %s has its rights: %w", name, err)
	}
	cfg := rest.CopyConfig(e.Config)
	if token, own := e.tokens[name]; own {
		cfg.BearerToken = token
	} else {
		cfg.Impersonate = rest.ImpersonationConfig{UserName: name}
	}
	return cfg, nil
}

// granted returns nil if the user has the permissions of the first rule. All rules
// are in one object, so they take effect together.
func granted(ctx context.Context, c client.Client, namespace, name string, rules []rbacv1.PolicyRule) error {
	if len(rules) == 0 || len(rules[0].Resources) == 0 {
		return nil
	}
	rule := rules[0]
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: name, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
		},
	}}
	if err := c.Create(ctx, review); err != nil {
		return err
	}
	if !review.Status.Allowed {
		return fmt.Errorf("it may not %s %s: %s", rule.Verbs[0], rule.Resources[0], review.Status.Reason)
	}
	return nil
}
