package v1alpha1

import (
	"slices"
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
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "placement", SecretRef: commonv1.SecretRefSpec{Name: "placement-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "placement-user"},
		},
	}
}

type violation apitest.Violation[*Placement]

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
	}
}

func placements() apitest.Kind[*Placement] {
	return apitest.Service[*Placement]{
		Selector: SelectorLabels,
		Policy:   "placement:usages",
	}.Completed(apitest.Kind[*Placement]{
		Definition: configDir + "/crd/bases/placement.openstack.c5c3.io_placements.yaml",
		Columns:    []string{"Ready", "Endpoint", "Release", "Age"},
		Minimal:    minimal,
		Complete:   []func() *Placement{minimal},

		Rules:       slices.Concat(table, Limits.Table()),
		Immutables:  immutables,
		UpdateRules: ValidateUpdate,
		Defaults:    SetDefaults,

		Violations: apitest.Violations(violations()),
		Accepted: map[string]func(*Placement){
			"the longest name": func(p *Placement) { p.Name = strings.Repeat("p", 40) },
		},
		Obsolete: func(p *Placement) { p.Spec.PriorityClassName = new("Gone_Class") },
		Words:    []string{"placement"},
	})
}

func kinds() apitest.Kinds { return apitest.Kinds{placements()} }

func TestThePlacementAPIPassesAllAPIChecks(t *testing.T) {
	// JSON carries no text that is not valid UTF-8.
	kinds().Prove(t, "validation*.go", " must be valid UTF-8")
}

func TestAnImageWithoutANameIsRefusedWithTheNameOfPlacements(t *testing.T) {
	p := minimal()
	p.Spec.Image.Repository = ""
	if err := Validate(p).ToAggregate(); err == nil || !strings.Contains(err.Error(), "for example ghcr.io/c5c3/placement") {
		t.Errorf("got %v", err)
	}
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}
