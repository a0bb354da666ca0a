// Package policy decides what a token may do, by the rules of OpenBao.
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl"
)

// The capabilities that the store distinguishes.
const (
	Create = "create"
	Read   = "read"
	Update = "update"
	Delete = "delete"
	List   = "list"
	Deny   = "deny"
)

// known are OpenBao's capabilities.
var known = []string{Create, Read, Update, Delete, List, Deny, "sudo", "patch", "scan"}

// Policy maps patterns of paths to the capabilities that it grants there. In a pattern a
// segment "+" stands for any one segment, and a "*" at the end for any rest.
type Policy map[string][]string

// Parse parses a policy in OpenBao's own syntax, or in JSON.
func Parse(text string) (Policy, error) {
	var raw struct {
		Path map[string]struct {
			Capabilities []string `hcl:"capabilities"`
		} `hcl:"path"`
	}
	if err := hcl.Decode(&raw, text); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if len(raw.Path) == 0 {
		return nil, errors.New("it names no path")
	}
	parsed := Policy{}
	for pattern, rule := range raw.Path {
		for _, capability := range rule.Capabilities {
			if !slices.Contains(known, capability) {
				return nil, fmt.Errorf("path %q: invalid capability %q", pattern, capability)
			}
		}
		parsed[pattern] = rule.Capabilities
	}
	return parsed, nil
}

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
	applies := true
	expanded := reference.ReplaceAllStringFunc(pattern, func(text string) string {
		found := reference.FindStringSubmatch(text)
		value := i.Metadata[found[2]]
		applies = applies && value != "" && found[1] == i.Accessor
		return value
	})
	return expanded, applies && !strings.Contains(expanded, "{{")
}

// Allows reports whether the policies together permit a capability at a path. Only
// the most specific pattern that matches counts, in whichever policy it is; "deny"
// there beats everything else.
func Allows(policies []Policy, of Identity, path, wanted string) bool {
	granted := map[string][]string{}
	for _, policy := range policies {
		for template, capabilities := range policy {
			if pattern, applies := of.expand(template); applies && matches(pattern, path) {
				granted[pattern] = append(granted[pattern], capabilities...)
			}
		}
	}
	if len(granted) == 0 {
		return false
	}
	best := slices.MaxFunc(slices.Collect(maps.Keys(granted)), moreSpecific)
	return slices.Contains(granted[best], wanted) && !slices.Contains(granted[best], Deny)
}

// matches reports whether a pattern stands for a path.
func matches(pattern, path string) bool {
	start, open := strings.CutSuffix(pattern, "*")
	segments := strings.Split(start, "/")
	for i, segment := range segments {
		if segments[i] = regexp.QuoteMeta(segment); segment == "+" {
			segments[i] = "[^/]*"
		}
	}
	expression := "^" + strings.Join(segments, "/")
	if !open {
		expression += "$"
	}
	matched, err := regexp.MatchString(expression, path)
	return matched && err == nil
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
	stars := func(pattern string) int { return len(pattern) - len(strings.TrimSuffix(pattern, "*")) }
	return cmp.Or(
		cmp.Compare(wildcard(a), wildcard(b)),
		cmp.Compare(stars(b), stars(a)),
		cmp.Compare(strings.Count(b, "+"), strings.Count(a, "+")),
		cmp.Compare(len(a), len(b)),
		strings.Compare(a, b),
	)
}
