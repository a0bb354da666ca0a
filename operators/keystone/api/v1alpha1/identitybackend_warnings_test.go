package v1alpha1

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestAMappingOfEverybodyToAdminOrOfNobodyIsWarnedAbout(t *testing.T) {
	everybody := []RemoteMapping{{Claim: "sub"}, {Claim: "groups", Whitelist: []string{"a"}}}
	some := []RemoteMapping{{Claim: "groups", AnyOneOf: []string{"admins"}}}
	for name, c := range map[string]struct {
		group  string
		remote []RemoteMapping
		want   string
	}{
		"everybody an admin":  {"Admins", everybody, "puts every user of the provider into the group Admins, which has the role admin"},
		"some admins":         {"admins", some, ""},
		"everybody a member":  {"members", everybody, ""},
		"a group of no one":   {"others", some, "names the group others, which spec.groups does not have"},
		"a group of a claim":  {"{0}", everybody, ""},
		"no group but a user": {"", everybody, ""},
	} {
		b := &KeystoneIdentityBackend{}
		b.Spec.Mappings = []MappingRule{{Local: []LocalMapping{{Group: c.group}}, Remote: c.remote}}
		b.Spec.Groups = []IdentityGroup{
			{Name: "admins", RoleAssignments: []RoleAssignment{{Role: "reader"}, {Role: "admin"}}}, {Name: "members"},
		}
		got := strings.Join(b.Spec.Warnings(field.NewPath("spec")), "\n")
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
