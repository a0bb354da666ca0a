package policy_test

import (
	"testing"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

func rules(patterns map[string][]policy.Capability) policy.Policy {
	p := policy.Policy{Path: map[string]policy.Rule{}}
	for pattern, capabilities := range patterns {
		p.Path[pattern] = policy.Rule{Capabilities: capabilities}
	}
	return p
}

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
		policies := policy.Policies{"p": rules(map[string][]policy.Capability{test.pattern: {policy.Read}})}
		if got := policies.Allows([]string{"p"}, policy.Identity{}, test.path, policy.Read); got != test.want {
			t.Errorf("%s on %s: %t", test.pattern, test.path, got)
		}
	}
}

func TestOnlyTheMostSpecificPatternCounts(t *testing.T) {
	policies := policy.Policies{
		"wide":   rules(map[string][]policy.Capability{"kv/data/*": {policy.Read, policy.Update}}),
		"narrow": rules(map[string][]policy.Capability{"kv/data/+/keys": {policy.Read}, "kv/data/a/keys": {policy.Deny}}),
	}
	names := []string{"wide", "narrow"}
	for _, test := range []struct {
		path   string
		wanted policy.Capability
		want   bool
	}{
		{"kv/data/x", policy.Update, true},
		{"kv/data/b/keys", policy.Read, true},
		{"kv/data/b/keys", policy.Update, false},
		{"kv/data/a/keys", policy.Read, false},
	} {
		if got := policies.Allows(names, policy.Identity{}, test.path, test.wanted); got != test.want {
			t.Errorf("%s %s: %t", test.wanted, test.path, got)
		}
	}
}

func TestTheSamePatternInTwoPoliciesGrantsBoth(t *testing.T) {
	policies := policy.Policies{
		"a": rules(map[string][]policy.Capability{"kv/x": {policy.Read}}),
		"b": rules(map[string][]policy.Capability{"kv/x": {policy.Delete}}),
	}
	for _, wanted := range []policy.Capability{policy.Read, policy.Delete} {
		if !policies.Allows([]string{"a", "b"}, policy.Identity{}, "kv/x", wanted) {
			t.Errorf("%s is refused", wanted)
		}
	}
}

func TestNoPolicyPermitsNothingAndRootEverything(t *testing.T) {
	if (policy.Policies{}).Allows([]string{"default"}, policy.Identity{}, "kv/x", policy.Read) {
		t.Error("a token without a policy may read")
	}
	if !(policy.Policies{}).Allows([]string{policy.Root}, policy.Identity{}, "kv/x", policy.Delete) {
		t.Error("the root token may not delete")
	}
}

func TestAPatternRefersToTheLoginOfTheToken(t *testing.T) {
	policies := policy.Policies{"p": rules(map[string][]policy.Capability{
		"kv/{{identity.entity.aliases.here.metadata.service_account_namespace}}/*": {policy.Read},
	})}
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
		if got := policies.Allows([]string{"p"}, test.of, test.path, policy.Read); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
