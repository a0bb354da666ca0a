package v1alpha1

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Patterns of names and texts, as the schema states them.
var (
	dashboardURL = regexp.MustCompile(strings.Replace(oidcIssuer.String(), "https", "https?", 1))
	claimName    = regexp.MustCompile(`^[A-Za-z0-9_][-_A-Za-z0-9]{0,63}$`)
	localText    = regexp.MustCompile(`^([^{}\s]|\{[0-9]{1,2}\})([^{}]|\{[0-9]{1,2}\})*$`)
	placeholder  = regexp.MustCompile(`\{[0-9]{1,2}\}`)
)

// IsFederated reports whether users of the backend log in at a provider.
func (b *KeystoneIdentityBackend) IsFederated() bool { return b.Spec.OIDC != nil || b.Spec.SAML != nil }

// IdentityProviderName returns the name in Keystone of the identity provider of a backend with a provider.
func (b *KeystoneIdentityBackend) IdentityProviderName() string {
	return cmp.Or(b.Spec.Names()[1], b.Name)
}

// ProtocolName returns the name in Keystone of the protocol of a backend with a provider.
func (b *KeystoneIdentityBackend) ProtocolName() string { return b.Spec.Names()[2] }

// RemoteID returns what the provider calls itself: its issuer or its entity ID.
func (b *KeystoneIdentityBackend) RemoteID() string {
	if b.Spec.SAML != nil {
		return b.Spec.SAML.EntityID
	}
	return b.Spec.OIDC.Issuer
}

// hasProvider reports whether the type is one whose users log in at a provider.
func (s *IdentityBackendSpec) hasProvider() bool {
	return s.Type == IdentityBackendOIDC || s.Type == IdentityBackendSAML
}

// Names returns what the backend is in Keystone for good: its type, and the names of the identity provider and
// of the protocol.
func (s *IdentityBackendSpec) Names() [3]string {
	switch {
	case s.OIDC != nil:
		return [3]string{s.Type, s.OIDC.IdentityProvider, s.OIDC.ProtocolName()}
	case s.SAML != nil:
		return [3]string{s.Type, s.SAML.IdentityProvider, s.SAML.ProtocolName()}
	}
	return [3]string{s.Type}
}

// Claims returns the claims that mappings use, in order.
func (s *IdentityBackendSpec) Claims() (claims []string) {
	for _, rule := range s.Mappings {
		for _, remote := range rule.Remote {
			claims = append(claims, remote.Claim)
		}
	}
	slices.Sort(claims)
	return slices.Compact(claims)
}

func checkIdentityProvider(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return commonv1.ValidateFederatedName(name, at)
}

func (s *IdentityBackendSpec) checkMappings(at *field.Path) field.ErrorList {
	errs := unless((len(s.Mappings) > 0) == s.hasProvider(), at, len(s.Mappings),
		"the types OIDC and SAML need mappings, and no other type has them")
	users := 0
	for i, rule := range s.Mappings {
		errs = append(errs, checkRule(rule, at.Index(i))...)
		for _, local := range rule.Local {
			if local.User != nil {
				users++
			}
		}
	}
	if len(s.Mappings) == 0 || len(errs) > 0 {
		return errs
	}
	return unless(users > 0, at, users, "no rule has a user: add one with a name to local")
}

func checkRule(rule MappingRule, at *field.Path) field.ErrorList {
	errs := slices.Concat(unless(len(rule.Local) > 0, at.Child("local"), nil, "say what the user is"),
		unless(len(rule.Remote) > 0, at.Child("remote"), nil, "name a claim"))
	values := 0
	for i, remote := range rule.Remote {
		errs = append(errs, checkRemote(remote, at.Child("remote").Index(i))...)
		if remote.AnyOneOf == nil && remote.NotAnyOf == nil {
			values++
		}
	}
	for i, local := range rule.Local {
		errs = append(errs, checkLocal(local, values, at.Child("local").Index(i))...)
	}
	return errs
}

func checkRemote(remote RemoteMapping, at *field.Path) field.ErrorList {
	lists := 0
	for _, list := range [][]string{remote.AnyOneOf, remote.NotAnyOf, remote.Whitelist, remote.Blacklist} {
		if list != nil {
			lists++
		}
	}
	return slices.Concat(
		unless(claimName.MatchString(remote.Claim), at.Child("claim"), remote.Claim,
			"it must have up to 64 letters, digits, dashes and underscores"),
		unless(lists <= 1, at, lists, "anyOneOf, notAnyOf, whitelist and blacklist exclude each other"),
		unless(lists > 0 || !remote.Regex, at.Child("regex"), remote.Regex, "regex needs a list"),
	)
}

// checkLocal expects the number of claims to which the texts can refer.
func checkLocal(local LocalMapping, values int, at *field.Path) field.ErrorList {
	given, errs := 0, field.ErrorList(nil)
	if local.User != nil {
		given++
		errs = append(errs, checkLocalText(local.User.Name, values, at.Child("user", "name"))...)
		if local.User.Email != "" {
			errs = append(errs, checkLocalText(local.User.Email, values, at.Child("user", "email"))...)
		}
	}
	for _, names := range []struct{ field, text string }{{"group", local.Group}, {"groups", local.Groups}} {
		if names.text != "" {
			given++
			errs = append(errs, checkLocalText(names.text, values, at.Child(names.field))...)
		}
	}
	return append(errs, unless(given == 1, at, given, "set one of user, group and groups")...)
}

func checkLocalText(text string, values int, at *field.Path) field.ErrorList {
	if !localText.MatchString(text) {
		return field.ErrorList{field.Invalid(at, text, "it must not begin with a space, and braces must be those of a number, as in {0}")}
	}
	for _, found := range placeholder.FindAllString(text, -1) {
		if number, _ := strconv.Atoi(strings.Trim(found, "{}")); number >= values {
			return field.ErrorList{field.Invalid(at, text,
				found+" does not exist: {0} is the first claim of remote without anyOneOf and notAnyOf, {1} the second one")}
		}
	}
	return nil
}

func (s *IdentityBackendSpec) checkGroups(at *field.Path) field.ErrorList {
	errs := unless(len(s.Groups) == 0 || s.hasProvider(), at, len(s.Groups),
		"only the types OIDC and SAML have groups here: those of a directory are in the directory")
	seen := map[string]bool{}
	for i, group := range s.Groups {
		at := at.Index(i)
		errs = append(errs, unless(group.Name != "", at.Child("name"), "", "name the group")...)
		// MariaDB compares names in this way.
		name := strings.ToLower(group.Name)
		if seen[name] {
			errs = append(errs, field.Duplicate(at, group.Name))
		}
		seen[name] = true
		for j, assignment := range group.RoleAssignments {
			errs = append(errs, unless(assignment.Role != "", at.Child("roleAssignments").Index(j).Child("role"), "", "name the role")...)
		}
	}
	return errs
}
