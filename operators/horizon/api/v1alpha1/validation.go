package v1alpha1

import (
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table has the rules of services and those of a Horizon alone. It repeats what the schema
// states as markers and CEL, in the same words, and adds what a schema cannot state. Rules
// that need other objects are in the webhook instead.
var table = slices.Concat(commonv1.ServiceRules[*Horizon](AppName, SelectorLabels), commonv1.NameRules[*Horizon](), rules.Table[*Horizon]{
	{Path: "spec.gateway.path", Check: checkGatewayPath},
	{Path: "spec.identity.authURL", Check: func(h *Horizon, at *field.Path) field.ErrorList {
		return commonv1.ValidateAuthURL(h.Spec.Identity.AuthURL, at)
	}},
	{Path: "spec.identity.domains", Check: checkDomains},
	{Path: "spec.identity.providers", Check: checkProviders},
	{Path: "spec.identity.publicURL", Check: func(h *Horizon, at *field.Path) field.ErrorList {
		if h.Spec.Identity.PublicURL == "" {
			return nil
		}
		return commonv1.ValidateAuthURL(h.Spec.Identity.PublicURL, at)
	}},
	{Path: "spec.secretKeyRef", Check: checkSecretKeyRef},
	{Path: "spec.settings", Check: checkSettings},
})

// Limits are the rules that refuse new values only.
var Limits = append(commonv1.ServiceLimits[*Horizon](),
	rules.Text("spec.identity.authURL", func(h *Horizon) string { return h.Spec.Identity.AuthURL }, commonv1.ValidateURLText),
	rules.Text("spec.identity.userDomain", func(h *Horizon) string { return h.Spec.Identity.UserDomain }, checkUserDomain),
)

// Outdated describes the values of a Horizon that a new one could not have, "" if there
// are none.
func Outdated(h *Horizon) string { return Limits.Outdated(h) }

// Validate returns everything that is wrong with a Horizon on its own, that is, without
// looking at other objects. It expects an object that SetDefaults has been applied to.
func Validate(h *Horizon) field.ErrorList { return table.Validate(h) }

// maxDomain is the length of the name of a domain in Keystone's database.
const maxDomain = 64

func checkGatewayPath(h *Horizon, at *field.Path) field.ErrorList {
	if h.Spec.Gateway == nil || h.Spec.Gateway.Path == "" || h.Spec.Gateway.Path == "/" {
		return nil
	}
	return field.ErrorList{field.Invalid(at, h.Spec.Gateway.Path,
		"path must be '/': the pages and their static files link to the root of the host")}
}

func checkUserDomain(domain string, at *field.Path) field.ErrorList {
	if len(domain) <= maxDomain {
		return nil
	}
	return field.ErrorList{field.TooLong(at, domain, maxDomain)}
}

func checkDomains(h *Horizon, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, domain := range h.Spec.Identity.Domains {
		switch {
		case domain == "":
			errs = append(errs, field.Required(at.Index(i), "name a domain"))
		case slices.Index(h.Spec.Identity.Domains, domain) < i:
			errs = append(errs, field.Duplicate(at.Index(i), domain))
		}
		errs = append(errs, checkUserDomain(domain, at.Index(i))...)
	}
	return errs
}

func checkProviders(h *Horizon, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, provider := range h.Spec.Identity.Providers {
		if names[provider.Name] {
			errs = append(errs, field.Duplicate(at.Index(i), provider.Name))
		}
		names[provider.Name] = true
		errs = append(errs, commonv1.ValidateFederatedName(provider.Name, at.Index(i).Child("name"))...)
		errs = append(errs, commonv1.ValidateFederatedName(provider.Protocol, at.Index(i).Child("protocol"))...)
	}
	return errs
}

func checkSecretKeyRef(h *Horizon, at *field.Path) field.ErrorList {
	if h.Spec.SecretKeyRef == nil {
		return nil
	}
	return commonv1.ValidateSecretRef(*h.Spec.SecretKeyRef, at)
}

// settingName is how Django names settings.
var settingName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// ownSettings are those that the operator sets. With other values, cookies could be forged
// or sent in plain text, a browser could say where its token is tried, pods would not share their
// sessions, or pages would miss their static files.
var ownSettings = []string{
	"ALLOWED_HOSTS", "CACHES", "COMPRESS_OFFLINE", "CSRF_COOKIE_SECURE", "DEBUG", "LOGGING", "OPENSTACK_KEYSTONE_DEFAULT_DOMAIN",
	"OPENSTACK_KEYSTONE_DOMAIN_CHOICES", "OPENSTACK_KEYSTONE_DOMAIN_DROPDOWN",
	"OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT", "OPENSTACK_KEYSTONE_URL", "SECRET_KEY", "SECURE_PROXY_SSL_HEADER",
	"FILE_UPLOAD_TEMP_DIR", "SESSION_CACHE_ALIAS", "SESSION_COOKIE_SECURE", "SESSION_ENGINE", "STATIC_ROOT", "STATIC_URL", "WEBROOT",
	"WEBSSO_ENABLED", "WEBSSO_IDP_MAPPING", "WEBSSO_KEYSTONE_URL", "WEBSSO_USE_HTTP_REFERER",
}

// checkSettings repeats no value, since any may be secret.
func checkSettings(h *Horizon, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(h.Spec.Settings)) {
		switch {
		case !settingName.MatchString(name):
			errs = append(errs, field.Invalid(at, name, "the name of a setting must be of upper case letters, digits and '_'"))
		case slices.Contains(ownSettings, name):
			errs = append(errs, field.Forbidden(at.Key(name), "is set by the operator; use the field of the spec that it follows from"))
		}
	}
	return errs
}
