package oidc

import (
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ClaimPrefix is what the variables with claims begin with. Keystone knows one prefix, so attributes of SAML
// have it, too.
const ClaimPrefix = "OIDC-"

// Rules returns the rules as Keystone has them. Groups are those of the domain.
func Rules(mappings []keystonev1alpha1.MappingRule, domain string) []map[string]any {
	rules := make([]map[string]any, 0, len(mappings))
	for _, mapping := range mappings {
		local := make([]map[string]any, 0, len(mapping.Local))
		for _, entry := range mapping.Local {
			local = append(local, localRule(entry, map[string]any{"name": domain}))
		}
		remote := make([]map[string]any, 0, len(mapping.Remote))
		for _, entry := range mapping.Remote {
			remote = append(remote, remoteRule(entry))
		}
		rules = append(rules, map[string]any{"local": local, "remote": remote})
	}
	return rules
}

func localRule(entry keystonev1alpha1.LocalMapping, domain map[string]any) map[string]any {
	switch {
	case entry.Group != "":
		return map[string]any{"group": map[string]any{"name": entry.Group, "domain": domain}}
	case entry.Groups != "":
		return map[string]any{"groups": entry.Groups, "domain": domain}
	}
	user := map[string]any{"name": entry.User.Name}
	if entry.User.Email != "" {
		user["email"] = entry.User.Email
	}
	return map[string]any{"user": user}
}

func remoteRule(entry keystonev1alpha1.RemoteMapping) map[string]any {
	rule := map[string]any{"type": ClaimPrefix + entry.Claim}
	for key, list := range map[string][]string{
		"any_one_of": entry.AnyOneOf, "not_any_of": entry.NotAnyOf, "whitelist": entry.Whitelist, "blacklist": entry.Blacklist,
	} {
		if list != nil {
			rule[key] = list
		}
	}
	if entry.Regex {
		rule["regex"] = true
	}
	return rule
}
