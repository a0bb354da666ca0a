package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const configDir = "../../config"

// minimal returns the least a user has to write.
func minimal() *Horizon {
	return &Horizon{
		ObjectMeta: metav1.ObjectMeta{Name: "horizon", Namespace: "openstack"},
		Spec: HorizonSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/horizon", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			Identity: HorizonIdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
		},
	}
}

// complete returns one with every field that other services do not have.
func complete() *Horizon {
	h := minimal()
	h.Spec.Identity.MultiDomain, h.Spec.Identity.UserDomain = true, "users"
	h.Spec.Identity.Domains, h.Spec.Identity.PublicURL = []string{"staff"}, "https://keystone.example.com/v3"
	h.Spec.Identity.Providers = []HorizonIdentityProvider{{Name: "company", Protocol: "openid"}}
	h.Spec.SecretKeyRef = &commonv1.SecretRefSpec{Name: "horizon-key", Key: "key"}
	h.Spec.Settings = settings("SESSION_TIMEOUT", "7200")
	return h
}

func settings(name, value string) map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{name: {Raw: []byte(value)}}
}

type violation apitest.Violation[*Horizon]

func violations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(h *Horizon) { h.Name = "1.horizon" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a name too long for a Job", func(h *Horizon) { h.Name = strings.Repeat("h", 41) },
			"metadata.name", "name must be no longer than 40 characters", "name must be no longer than 40 characters", "Invalid value",
		},
		{
			"a path below the root", func(h *Horizon) { h.Spec.Gateway = gateway("/dashboard") },
			"spec.gateway.path", "path must be '/'", "path must be '/'", "",
		},
		{
			"no URL of the Identity service", func(h *Horizon) { h.Spec.Identity.AuthURL = "" },
			"spec.identity.authURL", "Required value", apitest.NoMatch, "",
		},
		{
			"a URL of another protocol", func(h *Horizon) { h.Spec.Identity.AuthURL = "ftp://keystone" },
			"spec.identity.authURL", "must be a URL that begins with http:// or https://", apitest.NoMatch, "",
		},
		{
			"a URL with a space of another script", func(h *Horizon) { h.Spec.Identity.AuthURL = "http://keystone/v3\u00a0" },
			"spec.identity.authURL", "must not contain spaces", "", "",
		},
		{
			"a domain that Keystone cannot store", func(h *Horizon) { h.Spec.Identity.UserDomain = strings.Repeat("d", 65) },
			"spec.identity.userDomain", "Too long", "Too long", "",
		},
		{
			"a domain without a name", func(h *Horizon) { h.Spec.Identity.Domains = []string{""} },
			"spec.identity.domains[0]", "Required value", apitest.TooShort, "",
		},
		{
			"a domain twice", func(h *Horizon) { h.Spec.Identity.Domains = []string{"staff", "staff"} },
			"spec.identity.domains[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"a provider twice", func(h *Horizon) {
				company := HorizonIdentityProvider{Name: "company", Protocol: "openid"}
				h.Spec.Identity.Providers = []HorizonIdentityProvider{company, company}
			},
			"spec.identity.providers[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"a provider that is a path", func(h *Horizon) {
				h.Spec.Identity.Providers = []HorizonIdentityProvider{{Name: "a/b", Protocol: "openid"}}
			},
			"spec.identity.providers[0].name", "it is a part of URLs", apitest.NoMatch, "",
		},
		{
			"a protocol with a space", func(h *Horizon) {
				h.Spec.Identity.Providers = []HorizonIdentityProvider{{Name: "company", Protocol: "open id"}}
			},
			"spec.identity.providers[0].protocol", "it is a part of URLs", apitest.NoMatch, "",
		},
		{
			"a public URL without a host", func(h *Horizon) { h.Spec.Identity.PublicURL = "https:///v3" },
			"spec.identity.publicURL", "must be a URL that begins with http:// or https://", apitest.NoMatch, "",
		},
		{
			"a key in no Secret", func(h *Horizon) { h.Spec.SecretKeyRef = &commonv1.SecretRefSpec{} },
			"spec.secretKeyRef.name", "Required value", apitest.TooShort, "",
		},
		{
			"a setting in lower case", func(h *Horizon) { h.Spec.Settings = settings("session_timeout", "7200") },
			"spec.settings", "upper case letters", "", "",
		},
		{
			"a setting of the operator", func(h *Horizon) { h.Spec.Settings = settings("SECRET_KEY", `"known"`) },
			"spec.settings[SECRET_KEY]", "is set by the operator", "", "",
		},
	}
}

func gateway(path string) *commonv1.GatewaySpec {
	return &commonv1.GatewaySpec{
		Hostname: "horizon.example.com", Path: path, ParentRef: commonv1.GatewayParentRefSpec{Name: "public"},
	}
}

func horizons() apitest.Kind[*Horizon] {
	return apitest.Service[*Horizon]{Selector: SelectorLabels}.Completed(apitest.Kind[*Horizon]{
		Definition: configDir + "/crd/bases/horizon.openstack.c5c3.io_horizons.yaml",
		Columns:    []string{"Ready", "Endpoint", "Release", "Age"},
		Minimal:    minimal,
		Complete:   []func() *Horizon{complete},

		Rules:    slices.Concat(table, Limits.Table()),
		Defaults: SetDefaults,

		Violations: apitest.Violations(violations()),
		Accepted: map[string]func(*Horizon){
			"the longest name":      func(h *Horizon) { h.Name = strings.Repeat("h", 40) },
			"the root of a host":    func(h *Horizon) { h.Spec.Gateway = gateway("/") },
			"a setting of any type": func(h *Horizon) { h.Spec.Settings = settings("WEBSSO_CHOICES", `[["credentials", {"a": null}]]`) },
		},
		DefaultRows: []apitest.Default{{Path: "spec.identity.userDomain", Want: "Default"}},
		Obsolete:    func(h *Horizon) { h.Spec.PriorityClassName = new("Gone_Class") },
		Words:       []string{"horizon", "SESSION_TIMEOUT"},
	})
}

func kinds() apitest.Kinds { return apitest.Kinds{horizons()} }

func TestTheHorizonAPIPassesAllAPIChecks(t *testing.T) {
	// JSON carries no text that is not valid UTF-8.
	kinds().Prove(t, "validation*.go", " must be valid UTF-8")
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}
