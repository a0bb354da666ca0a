package webhook

import (
	"strings"
	"testing"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestAMappingOfEverybodyToAdminOrOfNobodyIsWarnedAbout(t *testing.T) {
	everybody := []keystonev1alpha1.RemoteMapping{{Claim: "sub"}, {Claim: "groups", Whitelist: []string{"a"}}}
	some := []keystonev1alpha1.RemoteMapping{{Claim: "groups", AnyOneOf: []string{"admins"}}}
	for name, c := range map[string]struct {
		group  string
		remote []keystonev1alpha1.RemoteMapping
		want   string
	}{
		"everybody an admin":  {"Admins", everybody, "puts every user of the provider into the group Admins, which has the role admin"},
		"some admins":         {"admins", some, ""},
		"everybody a member":  {"members", everybody, ""},
		"a group of no one":   {"others", some, "names the group others, which spec.groups does not have"},
		"a group of a claim":  {"{0}", everybody, ""},
		"no group but a user": {"", everybody, ""},
	} {
		b := &keystonev1alpha1.KeystoneIdentityBackend{}
		b.Spec.Mappings = []keystonev1alpha1.MappingRule{{Local: []keystonev1alpha1.LocalMapping{{Group: c.group}}, Remote: c.remote}}
		b.Spec.Groups = []keystonev1alpha1.IdentityGroup{
			{Name: "admins", RoleAssignments: []keystonev1alpha1.RoleAssignment{{Role: "reader"}, {Role: "admin"}}}, {Name: "members"},
		}
		got := strings.Join(identityBackendWarnings(b), "\n")
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
