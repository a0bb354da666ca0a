package policy

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl"
)

// Parse parses a policy in OpenBao's own syntax, or in JSON.
func Parse(text string) (Policy, error) {
	var raw struct {
		Path map[string]struct {
			Capabilities []Capability `hcl:"capabilities"`
		} `hcl:"path"`
	}
	if err := hcl.Decode(&raw, text); err != nil {
		return Policy{}, fmt.Errorf("parse: %w", err)
	}
	if len(raw.Path) == 0 {
		return Policy{}, errors.New("it names no path")
	}
	parsed := Policy{Path: map[string]Rule{}}
	for pattern, rule := range raw.Path {
		for _, capability := range rule.Capabilities {
			if !known[capability] {
				return Policy{}, fmt.Errorf("path %q: invalid capability %q", pattern, capability)
			}
		}
		parsed.Path[pattern] = Rule(rule)
	}
	return parsed, nil
}

// known are OpenBao's capabilities; the store checks some of them.
var known = map[Capability]bool{
	Create: true, Read: true, Update: true, Delete: true, List: true, Deny: true, "sudo": true, "patch": true, "scan": true,
}
