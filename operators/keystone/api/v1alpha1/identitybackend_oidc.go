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

// DefaultClientSecretKey is the key of the password of a client in its Secret.
const DefaultClientSecretKey = "client-secret"

// Patterns of names and texts, as the schema states them.
var (
	oidcIssuer    = regexp.MustCompile(`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*$`)
	oidcEndpoint  = regexp.MustCompile(strings.TrimSuffix(oidcIssuer.String(), "$") + `(\?[-._~%:@+=&/A-Za-z0-9]*)?$`)
	dashboardURL  = regexp.MustCompile(strings.Replace(oidcIssuer.String(), "https", "https?", 1))
	oidcWord      = regexp.MustCompile(`^[-._~:/@+A-Za-z0-9]{1,255}$`)
	federatedName = regexp.MustCompile(`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`)
	claimName     = regexp.MustCompile(`^[A-Za-z0-9_][-_A-Za-z0-9]{0,63}$`)
	localText     = regexp.MustCompile(`^([^{}\s]|\{[0-9]{1,2}\})([^{}]|\{[0-9]{1,2}\})*$`)
	placeholder   = regexp.MustCompile(`\{[0-9]{1,2}\}`)
)

// IdentityProviderName returns the name of the identity provider of a backend of the type OIDC.
func (b *KeystoneIdentityBackend) IdentityProviderName() string {
	return cmp.Or(b.Spec.OIDC.IdentityProvider, b.Name)
}

// ProtocolName returns the name of the protocol in Keystone.
func (o *OIDCSpec) ProtocolName() string { return string(cmp.Or(o.Protocol, OIDCProtocolOpenID)) }

// RequestedScopes returns the scopes with their default.
func (o *OIDCSpec) RequestedScopes() []string {
	if len(o.Scopes) == 0 {
		return []string{"openid", "email", "profile"}
	}
	return o.Scopes
}

// names returns what the backend is in Keystone for good.
func (s *KeystoneIdentityBackendSpec) names() [3]string {
	if s.OIDC == nil {
		return [3]string{s.Type}
	}
	return [3]string{s.Type, s.OIDC.IdentityProvider, s.OIDC.ProtocolName()}
}

func checkProvider(b *KeystoneIdentityBackend, at *field.Path) field.ErrorList {
	o := b.Spec.OIDC
	if o == nil {
		return nil
	}
	const protocols = "it must be openid or mapped: Keystone has no plugin for another name"
	errs := slices.Concat(
		unless(oidcIssuer.MatchString(o.Issuer), at.Child("issuer"), o.Issuer,
			"it must be https:// with a host, and maybe a port and a path, as the provider's discovery document has it"),
		checkEndpoints(o.Endpoints, at.Child("endpoints")),
		checkWords([]string{o.ClientID}, func(int) *field.Path { return at.Child("clientID") }),
		commonv1.ValidateSecretRef(o.ClientSecretRef, at.Child("clientSecretRef")),
		checkWords(o.Scopes, at.Child("scopes").Index),
		unless(slices.Contains(o.RequestedScopes(), "openid"), at.Child("scopes"), o.Scopes, "the scopes must contain openid"),
		unless(o.IdentityProvider == "" || federatedName.MatchString(o.IdentityProvider), at.Child("identityProvider"), o.IdentityProvider,
			"it must have letters, digits, dashes and underscores: it is a part of URLs"),
		unless(slices.Contains([]string{"openid", "mapped"}, o.ProtocolName()), at.Child("protocol"), o.Protocol, protocols),
	)
	if o.CABundleSecretRef != nil {
		errs = append(errs, commonv1.ValidateSecretRef(*o.CABundleSecretRef, at.Child("caBundleSecretRef"))...)
	}
	if o.BearerTokens != nil {
		at := at.Child("bearerTokens", "audiences")
		errs = append(errs, unless(len(o.BearerTokens.Audiences) > 0, at, nil,
			"name an audience: without one any token of the provider counts")...)
		errs = append(errs, checkWords(o.BearerTokens.Audiences, at.Index)...)
	}
	for i, dashboard := range o.TrustedDashboards {
		errs = append(errs, unless(dashboardURL.MatchString(dashboard), at.Child("trustedDashboards").Index(i), dashboard,
			"it must be https:// or http:// with a host, and maybe a port and a path")...)
	}
	return errs
}

func checkEndpoints(endpoints *OIDCEndpoints, at *field.Path) (errs field.ErrorList) {
	if endpoints == nil {
		return nil
	}
	for _, given := range []struct {
		name, url string
		optional  bool
	}{
		{"authorization", endpoints.Authorization, false},
		{"token", endpoints.Token, false},
		{"jwks", endpoints.JWKS, false},
		{"userinfo", endpoints.Userinfo, true},
	} {
		errs = append(errs, unless(given.url == "" && given.optional || oidcEndpoint.MatchString(given.url), at.Child(given.name), given.url,
			"it must be https:// with a host, and maybe a port, a path and a query")...)
	}
	return errs
}

// checkWords refuses what cannot be a single word in the configuration of the proxy.
func checkWords(words []string, at func(int) *field.Path) (errs field.ErrorList) {
	for i, word := range words {
		errs = append(errs, unless(oidcWord.MatchString(word), at(i), word, "it must have up to 255 letters, digits and -._~:/@+")...)
	}
	return errs
}

func checkMappings(b *KeystoneIdentityBackend, at *field.Path) field.ErrorList {
	errs := unless((len(b.Spec.Mappings) > 0) == (b.Spec.Type == IdentityBackendOIDC), at, len(b.Spec.Mappings),
		"the type OIDC needs mappings, and no other type has them")
	users := 0
	for i, rule := range b.Spec.Mappings {
		errs = append(errs, checkRule(rule, at.Index(i))...)
		for _, local := range rule.Local {
			if local.User != nil {
				users++
			}
		}
	}
	if len(b.Spec.Mappings) == 0 || len(errs) > 0 {
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

func checkIdentityGroups(b *KeystoneIdentityBackend, at *field.Path) field.ErrorList {
	errs := unless(len(b.Spec.Groups) == 0 || b.Spec.Type == IdentityBackendOIDC, at, len(b.Spec.Groups),
		"only the type OIDC has groups here: those of a directory are in the directory")
	seen := map[string]bool{}
	for i, group := range b.Spec.Groups {
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
