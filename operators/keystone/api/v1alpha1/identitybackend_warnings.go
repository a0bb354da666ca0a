package v1alpha1

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// administrator is the role that may do anything in the whole cloud.
const administrator = "admin"

// Warnings warns of what works, and is hardly meant.
func (s *IdentityBackendSpec) Warnings(at *field.Path) []string {
	return slices.Concat(s.directoryWarnings(at), s.mappingWarnings(at))
}

// directoryWarnings warns of passwords that are readable on the network.
func (s *IdentityBackendSpec) directoryWarnings(at *field.Path) []string {
	ldap := s.LDAP
	if ldap == nil || ldap.TLS != nil || len(ldap.URLs) == 0 || !strings.HasPrefix(ldap.URLs[0], "ldap://") {
		return nil
	}
	return []string{at.Child("ldap", "tls").String() +
		" is not set, so the passwords of users are readable on the network between Keystone and the directory"}
}

// mappingWarnings warns of rules that make everybody an administrator, and of those that let nobody in.
func (s *IdentityBackendSpec) mappingWarnings(at *field.Path) (warnings []string) {
	for i, rule := range s.Mappings {
		for _, local := range rule.Local {
			if local.Group == "" || strings.Contains(local.Group, "{") {
				continue
			}
			group := declared(s.Groups, local.Group)
			switch {
			case group == nil:
				warnings = append(warnings, fmt.Sprintf("%s names the group %s, which %s does not have: "+
					"unless it exists in the domain, nobody to whom the rule applies can log in",
					at.Child("mappings").Index(i), local.Group, at.Child("groups")))
			case isForEverybody(rule) && slices.ContainsFunc(group.RoleAssignments, isAdministrator):
				warnings = append(warnings, fmt.Sprintf("%s puts every user of the provider into the group %s, which has the role %s: "+
					"add anyOneOf to a claim of the rule", at.Child("mappings").Index(i), local.Group, administrator))
			}
		}
	}
	return warnings
}

// declared returns the group of the name, nil if there is none.
func declared(groups []IdentityGroup, name string) *IdentityGroup {
	for i := range groups {
		if strings.EqualFold(groups[i].Name, name) {
			return &groups[i]
		}
	}
	return nil
}

// isForEverybody reports whether the rule has no condition.
func isForEverybody(rule MappingRule) bool {
	return !slices.ContainsFunc(rule.Remote, func(r RemoteMapping) bool { return r.AnyOneOf != nil || r.NotAnyOf != nil })
}

func isAdministrator(assignment RoleAssignment) bool {
	return assignment.Role == administrator
}
