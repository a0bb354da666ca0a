package installed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// rules returns the real permissions, for which the rendered test releases contain
// placeholders.
func (c Chart) rules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	// A program that runs several operators has a folder for each.
	files, err := filepath.Glob(filepath.Join(c.Folder, "files/*/rbac-rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Program == nil {
		files = []string{filepath.Join(c.Folder, "files/rbac-rules.yaml")}
	}
	var rules []rbacv1.PolicyRule
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var read []rbacv1.PolicyRule
		if err := yaml.UnmarshalStrict(content, &read); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, read...)
	}
	return rules
}

// namespaced removes the resources that are cluster-scoped according to the API
// server, since a Role cannot grant access to them.
func (c Chart) namespaced(t *testing.T, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	t.Helper()
	mapper := c.Env.Client(t, c.Options.Scheme).RESTMapper()
	clusterScoped := func(group, resource string) bool {
		plain, _, _ := strings.Cut(resource, "/")
		kind, err := mapper.KindFor(schema.GroupVersionResource{Group: group, Resource: plain})
		if err != nil {
			return false
		}
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
	}
	var kept []rbacv1.PolicyRule
	for _, rule := range rules {
		rule.Resources = slices.DeleteFunc(rule.Resources, func(resource string) bool {
			return slices.ContainsFunc(rule.APIGroups, func(group string) bool { return clusterScoped(group, resource) })
		})
		if len(rule.Resources) > 0 {
			kept = append(kept, rule)
		}
	}
	return kept
}
