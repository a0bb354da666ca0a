package policy_test

import (
	"testing"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

func TestAPatternMatchesWholePathsOnly(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"kv/data/a", "kv/data/a", true},
		{"kv/data/a", "kv/data/a/b", false},
		{"kv/data/a", "kv/data/ab", false},
		{"kv/data/*", "kv/data/a/b", true},
		{"kv/data/*", "kv/data/", true},
		{"kv/data/*", "kv/data", false},
		{"kv/data/a*", "kv/data/ab/c", true},
		{"kv/data/a*", "kv/data/b", false},
		{"kv/+/a", "kv/data/a", true},
		{"kv/+/a", "kv/data/x/a", false},
		{"kv/+/+/keys", "kv/ns/name/keys", true},
		{"kv/+/+/keys", "kv/ns/keys", false},
	} {
		policies := []policy.Policy{{test.pattern: {policy.Read}}}
		if got := policy.Allows(policies, policy.Identity{}, test.path, policy.Read); got != test.want {
			t.Errorf("%s on %s: %t", test.pattern, test.path, got)
		}
	}
}

func TestOnlyTheMostSpecificPatternCounts(t *testing.T) {
	policies := []policy.Policy{
		{"kv/data/*": {policy.Read, policy.Update}},
		{"kv/data/+/keys": {policy.Read}, "kv/data/a/keys": {policy.Deny}},
	}
	for _, test := range []struct {
		path, wanted string
		want         bool
	}{
		{"kv/data/x", policy.Update, true},
		{"kv/data/b/keys", policy.Read, true},
		{"kv/data/b/keys", policy.Update, false},
		{"kv/data/a/keys", policy.Read, false},
	} {
		if got := policy.Allows(policies, policy.Identity{}, test.path, test.wanted); got != test.want {
			t.Errorf("%s %s: %t", test.wanted, test.path, got)
		}
	}
}

func TestTheSamePatternInTwoPoliciesGrantsBoth(t *testing.T) {
	policies := []policy.Policy{{"kv/x": {policy.Read}}, {"kv/x": {policy.Delete}}}
	for _, wanted := range []string{policy.Read, policy.Delete} {
		if !policy.Allows(policies, policy.Identity{}, "kv/x", wanted) {
			t.Errorf("%s is refused", wanted)
		}
	}
}

func TestNoPolicyPermitsNothing(t *testing.T) {
	if policy.Allows([]policy.Policy{nil}, policy.Identity{}, "kv/x", policy.Read) {
		t.Error("a token without a policy may read")
	}
}

func TestAPolicyTemplateResolvesTheIdentityOfTheToken(t *testing.T) {
	policies := []policy.Policy{{"kv/{{identity.entity.aliases.here.metadata.service_account_namespace}}/*": {policy.Read}}}
	of := func(accessor, namespace string) policy.Identity {
		return policy.Identity{Accessor: accessor, Metadata: map[string]string{"service_account_namespace": namespace}}
	}
	for _, test := range []struct {
		name string
		of   policy.Identity
		path string
		want bool
	}{
		{"its own namespace", of("here", "a"), "kv/a/x", true},
		{"another namespace", of("here", "a"), "kv/b/x", false},
		{"another login", of("there", "a"), "kv/a/x", false},
		{"no metadata", policy.Identity{Accessor: "here"}, "kv//x", false},
	} {
		if got := policy.Allows(policies, test.of, test.path, policy.Read); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
