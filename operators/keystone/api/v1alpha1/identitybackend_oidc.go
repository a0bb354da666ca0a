package v1alpha1

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// DefaultClientSecretKey is the key of the password of a client in its Secret.
const DefaultClientSecretKey = "client-secret"

// Patterns of names and texts, as the schema states them.
var (
	oidcIssuer   = regexp.MustCompile(`^https://[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[-._~%:@+A-Za-z0-9]*)*$`)
	oidcEndpoint = regexp.MustCompile(strings.TrimSuffix(oidcIssuer.String(), "$") + `(\?[-._~%:@+=&/A-Za-z0-9]*)?$`)
	oidcWord     = regexp.MustCompile(`^[-._~:/@+A-Za-z0-9]{1,255}$`)
)

// ProtocolName returns the name of the protocol in Keystone.
func (o *OIDCSpec) ProtocolName() string { return string(cmp.Or(o.Protocol, OIDCProtocolOpenID)) }

// RequestedScopes returns the scopes with their default.
func (o *OIDCSpec) RequestedScopes() []string {
	if len(o.Scopes) == 0 {
		return []string{"openid", "email", "profile"}
	}
	return o.Scopes
}

func checkProvider(o *OIDCSpec, at *field.Path) field.ErrorList {
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
		checkIdentityProvider(o.IdentityProvider, at.Child("identityProvider")),
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
