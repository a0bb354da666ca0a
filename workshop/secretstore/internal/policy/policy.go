// Package policy decides what a token may do, by the rules of OpenBao.
package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Capability is something that a policy permits at a path.
type Capability string

// The capabilities that the store distinguishes.
const (
	Create Capability = "create"
	Read   Capability = "read"
	Update Capability = "update"
	Delete Capability = "delete"
	List   Capability = "list"
	Deny   Capability = "deny"
)

// Root is the name of the policy that permits everything.
const Root = "root"

// Rule is the rule of a policy for the paths that match a pattern.
type Rule struct {
	Capabilities []Capability `json:"capabilities"`
}

// Policy maps patterns to rules, as in OpenBao's JSON syntax. In a pattern a
// segment "+" stands for any one segment, and a "*" at the end for any rest.
type Policy struct {
	Path map[string]Rule `json:"path"`
}

// Policies are policies keyed by name.
type Policies map[string]Policy

// Identity is what the patterns of a policy may refer to: the login of a token, by its
// accessor, and the metadata that the login has recorded.
type Identity struct {
	Accessor string
	Metadata map[string]string
}

// reference matches the only expression that the store knows in a pattern.
var reference = regexp.MustCompile(`\{\{identity\.entity\.aliases\.([^.{}]+)\.metadata\.([a-z_]+)\}\}`)

// expand replaces the references in a pattern. A pattern that refers to another login, or
// to metadata that is missing, applies to no path.
func (i Identity) expand(pattern string) (string, bool) {
	known := true
	expanded := reference.ReplaceAllStringFunc(pattern, func(text string) string {
		found := reference.FindStringSubmatch(text)
		value := i.Metadata[found[2]]
		known = known && value != "" && found[1] == i.Accessor
		return value
	})
	return expanded, known && !strings.Contains(expanded, "{{")
}

// Allows reports whether the named policies together permit a capability at a
// path. Only the most specific pattern that matches counts, in whichever policy
// it is; "deny" there beats everything else.
func (p Policies) Allows(names []string, of Identity, path string, wanted Capability) bool {
	if slices.Contains(names, Root) {
		return true
	}
	granted := map[string][]Capability{}
	for _, name := range names {
		for template, rule := range p[name].Path {
			if pattern, known := of.expand(template); known && matches(pattern, path) {
				granted[pattern] = append(granted[pattern], rule.Capabilities...)
			}
		}
	}
	if len(granted) == 0 {
		return false
	}
	best := slices.MaxFunc(slices.Collect(maps.Keys(granted)), moreSpecific)
	return slices.Contains(granted[best], wanted) && !slices.Contains(granted[best], Deny)
}

// matches reports whether a path matches the path of a policy rule, in which "+" stands
// for one segment and a final "*" for any suffix.
func matches(pattern, path string) bool {
	rest, open := strings.CutSuffix(pattern, "*")
	want, have := strings.Split(rest, "/"), strings.Split(path, "/")
	if len(want) > len(have) || (len(want) < len(have) && !open) {
		return false
	}
	for i, segment := range want {
		last := i == len(want)-1
		switch {
		case segment == "+":
		case last && open:
			if !strings.HasPrefix(have[i], segment) {
				return false
			}
		case segment != have[i]:
			return false
		}
	}
	return true
}

// wildcard returns where the first wildcard of a pattern is, behind the end for none.
func wildcard(pattern string) int {
	if i := strings.IndexAny(pattern, "+*"); i >= 0 {
		return i
	}
	return len(pattern) + 1
}

// moreSpecific orders patterns as OpenBao's documentation of policies does.
func moreSpecific(a, b string) int {
	if d := wildcard(a) - wildcard(b); d != 0 {
		return d
	}
	if aOpen, bOpen := strings.HasSuffix(a, "*"), strings.HasSuffix(b, "*"); aOpen != bOpen {
		if aOpen {
			return -1
		}
		return 1
	}
	if d := strings.Count(b, "+") - strings.Count(a, "+"); d != 0 {
		return d
	}
	if d := len(a) - len(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
