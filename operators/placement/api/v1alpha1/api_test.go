package v1alpha1

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const configDir = "../../config"

// minimal returns the least a user has to write.
func minimal() *Placement {
	return &Placement{
		ObjectMeta: metav1.ObjectMeta{Name: "placement", Namespace: "openstack"},
		Spec: PlacementSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/placement", Tag: "2025.2"},
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
				},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			Identity:             IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "placement-user"},
		},
	}
}

// complete returns a Placement with every field set that only a Placement has.
func complete() *Placement {
	p := minimal()
	p.Spec.Identity = IdentitySpec{
		AuthURL: "https://identity.example.com/v3", Region: "RegionOne", Project: "services", ProjectDomain: "Default", UserDomain: "Default",
	}
	p.Spec.ServiceUserSecretRef.Key = "password"
	return p
}

type (
	violation  apitest.Violation[*Placement]
	defaultRow apitest.Default
)

func violations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(p *Placement) { p.Name = "1.placement" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a name too long for a Job", func(p *Placement) { p.Name = strings.Repeat("p", 41) },
			"metadata.name", "name must be no longer than 40 characters", "name must be no longer than 40 characters", "Invalid value",
		},
		{
			"no Identity service", func(p *Placement) { p.Spec.Identity.AuthURL = "" },
			"spec.identity.authURL", "set the URL of the Identity API", apitest.NoMatch, "",
		},
		{
			"an Identity service of another protocol", func(p *Placement) { p.Spec.Identity.AuthURL = "ftp://keystone" },
			"spec.identity.authURL", "must be a URL that begins with http", apitest.NoMatch, "",
		},
		{
			"an Identity service with a password", func(p *Placement) { p.Spec.Identity.AuthURL = "http://a:b@keystone" },
			"spec.identity.authURL", "without a user", "", "",
		},
		{
			"a region that refers to an option", func(p *Placement) { p.Spec.Identity.Region = "$region" },
			"spec.identity.region", "must not contain spaces or dollar signs", apitest.NoMatch, "",
		},
		{
			"a project in two words", func(p *Placement) { p.Spec.Identity.Project = "the service" },
			"spec.identity.project", "must not contain spaces or dollar signs", apitest.NoMatch, "",
		},
		{
			"a project's domain in two words", func(p *Placement) { p.Spec.Identity.ProjectDomain = "the default" },
			"spec.identity.projectDomain", "must not contain spaces or dollar signs", apitest.NoMatch, "",
		},
		{
			"a user's domain in two words", func(p *Placement) { p.Spec.Identity.UserDomain = "the default" },
			"spec.identity.userDomain", "must not contain spaces or dollar signs", apitest.NoMatch, "",
		},
		{
			"no service user", func(p *Placement) { p.Spec.ServiceUserSecretRef.Name = "" },
			"spec.serviceUserSecretRef.name", "Required value", apitest.TooShort, "",
		},
	}
}

func placements() apitest.Kind[*Placement] {
	return apitest.Service[*Placement]{
		Change:   func(p *Placement, change func(*commonv1.ServiceSpec)) { change(&p.Spec.ServiceSpec) },
		Selector: SelectorLabels,
		Policy:   "placement:usages",
	}.Completed(apitest.Kind[*Placement]{
		Definition: configDir + "/crd/bases/placement.openstack.c5c3.io_placements.yaml",
		Columns:    []string{"Ready", "Endpoint", "Release", "Age"},
		Minimal:    minimal,
		Complete:   []func() *Placement{complete},

		Rules:       table,
		Immutables:  immutables,
		UpdateRules: ValidateUpdate,
		Defaults:    SetDefaults,

		Violations: apitest.Violations(violations()),
		Accepted: map[string]func(*Placement){
			"the longest name":     func(p *Placement) { p.Name = strings.Repeat("p", 40) },
			"an address with path": func(p *Placement) { p.Spec.Identity.AuthURL = "https://[fd00::1]:5000/identity/v3" },
		},
		Mutable: map[string]func(*Placement){
			"another service user": func(p *Placement) { p.Spec.ServiceUserSecretRef.Name = "placement-user-2" },
		},
		Obsolete: func(p *Placement) { p.Spec.PriorityClassName = new("Gone_Class") },

		DefaultRows: apitest.Defaults([]defaultRow{
			{"spec.identity.project", "service", ""},
			{"spec.identity.projectDomain", "Default", ""},
			{"spec.identity.userDomain", "Default", ""},
		}),
		Words: []string{"placement"},
	})
}

func kinds() apitest.Kinds { return apitest.Kinds{placements()} }

func TestTheAPIOfPlacementIsComplete(t *testing.T) {
	// JSON carries no text that is not valid UTF-8.
	kinds().Prove(t, "validation*.go", " must be valid UTF-8")
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}
