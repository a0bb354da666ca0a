package webhook

import (
	"fmt"
	"slices"
	"strings"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// administrator is the role that may do anything in the whole cloud.
const administrator = "admin"

// identityBackendWarnings warns of what works, and is hardly meant.
func identityBackendWarnings(b *keystonev1alpha1.KeystoneIdentityBackend) []string {
	return slices.Concat(directoryWarnings(b), mappingWarnings(b))
}

// directoryWarnings warns of passwords that are readable on the network.
func directoryWarnings(b *keystonev1alpha1.KeystoneIdentityBackend) []string {
	ldap := b.Spec.LDAP
	if ldap == nil || ldap.TLS != nil || len(ldap.URLs) == 0 || !strings.HasPrefix(ldap.URLs[0], "ldap://") {
		return nil
	}
	return []string{"spec.ldap.tls is not set, so the passwords of users are readable on the network between Keystone and the directory"}
}

// mappingWarnings warns of rules that make everybody an administrator, and of those that let nobody in.
func mappingWarnings(b *keystonev1alpha1.KeystoneIdentityBackend) (warnings []string) {
	for i, rule := range b.Spec.Mappings {
		for _, local := range rule.Local {
			if local.Group == "" || strings.Contains(local.Group, "{") {
				continue
			}
			group := declared(b.Spec.Groups, local.Group)
			switch {
			case group == nil:
				warnings = append(warnings, fmt.Sprintf("spec.mappings[%d] names the group %s, which spec.groups does not have: "+
					"unless it exists in the domain, nobody to whom the rule applies can log in", i, local.Group))
			case isForEverybody(rule) && slices.ContainsFunc(group.RoleAssignments, isAdministrator):
				warnings = append(warnings, fmt.Sprintf("spec.mappings[%d] puts every user of the provider into the group %s, which has the role %s: "+
					"add anyOneOf to a claim of the rule", i, local.Group, administrator))
			}
		}
	}
	return warnings
}

// declared returns the group of the name, nil if there is none.
func declared(groups []keystonev1alpha1.IdentityGroup, name string) *keystonev1alpha1.IdentityGroup {
	for i := range groups {
		if strings.EqualFold(groups[i].Name, name) {
			return &groups[i]
		}
	}
	return nil
}

// isForEverybody reports whether the rule has no condition.
func isForEverybody(rule keystonev1alpha1.MappingRule) bool {
	return !slices.ContainsFunc(rule.Remote, func(r keystonev1alpha1.RemoteMapping) bool { return r.AnyOneOf != nil || r.NotAnyOf != nil })
}

func isAdministrator(assignment keystonev1alpha1.RoleAssignment) bool {
	return assignment.Role == administrator
}
