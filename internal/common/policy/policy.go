// Package policy reads, combines and writes the rules of an OpenStack service's
// oslo.policy file, a YAML map from rule name to rule.
package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commontypes "github.com/c5c3/forge/internal/common/types"
)

// maxNameLength limits the quoted name, in bytes. YAML readers reject a key
// that is longer than 1024 characters.
const maxNameLength = 1000

// Parse reads a policy file. It is stricter than YAML, so that oslo.policy
// cannot understand the file differently: names are unique, names and rules are
// strings, and there is a single document without aliases. An empty file yields
// an empty map. A rule may be empty, which oslo.policy treats as "always
// allowed". Errors name the line.
func Parse(content []byte) (map[string]string, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return map[string]string{}, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("expected a single YAML document: remove what follows the first one")
	}
	return rulesOf(document.Content[0])
}

func rulesOf(root *yaml.Node) (map[string]string, error) {
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return map[string]string{}, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected a map from rule name to rule", root.Line)
	}
	rules := make(map[string]string, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, rule := root.Content[i], root.Content[i+1]
		if !isString(name) {
			return nil, fmt.Errorf("line %d: a rule name must be a string: put it in quotes", name.Line)
		}
		if err := validateName(name.Value); err != nil {
			return nil, fmt.Errorf("line %d: %w", name.Line, err)
		}
		if !isString(rule) {
			return nil, fmt.Errorf("line %d: rule %q must be a string: put it in quotes", rule.Line, name.Value)
		}
		if err := validateText(rule.Value); err != nil {
			return nil, fmt.Errorf("line %d: rule %q: %w", rule.Line, name.Value, err)
		}
		if _, ok := rules[name.Value]; ok {
			return nil, fmt.Errorf("line %d: rule %q is defined twice: keep one of them", name.Line, name.Value)
		}
		rules[name.Value] = rule.Value
	}
	return rules, nil
}

func isString(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str"
}

// Merge returns a new map with the rules of both; override takes precedence.
func Merge(base, override map[string]string) map[string]string {
	merged := make(map[string]string, len(base)+len(override))
	maps.Copy(merged, base)
	maps.Copy(merged, override)
	return merged
}

// Render returns the rules as a policy file, sorted by name, one rule per line,
// with name and rule in double quotes like the samples that oslo.policy
// generates. Without rules it returns an empty YAML map. It returns an error
// that names the rule if a name is empty or too long, or if name or rule
// contain characters that YAML cannot represent.
func Render(rules map[string]string) (string, error) {
	if len(rules) == 0 {
		return "{}\n", nil
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if err := validateName(name); err != nil {
			return "", fmt.Errorf("rule %q: %w", name, err)
		}
		if err := validateText(rules[name]); err != nil {
			return "", fmt.Errorf("rule %q: %w", name, err)
		}
		out.WriteString(quote(name) + ": " + quote(rules[name]) + "\n")
	}
	return out.String(), nil
}

// quote relies on YAML's double-quoted scalars being a superset of JSON strings.
func quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// Encoding a string into memory cannot fail.
	_ = encoder.Encode(text)
	return strings.TrimSuffix(out.String(), "\n")
}

func validateName(name string) error {
	switch {
	case name == "":
		return errors.New("policy rule name must not be empty")
	case len(quote(name)) > maxNameLength:
		return fmt.Errorf("policy rule name must not be longer than %d bytes", maxNameLength)
	}
	return validateText(name)
}

// validateText rejects characters that YAML files must not contain. A rule may
// span lines and be indented with tabs, since oslo.policy splits it at white
// space.
func validateText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("must be valid UTF-8")
	}
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', r == '\r':
		case unicode.IsControl(r), r == 0xfeff, r == 0xfffe, r == 0xffff:
			return fmt.Errorf("must not contain the control character %U", r)
		}
	}
	return nil
}

// LoadPolicyFromConfigMap reads the rules from the key policy.yaml of a
// ConfigMap. It returns an error if the ConfigMap (apierrors.IsNotFound) or the
// key is missing, if the content is malformed, or if it has no rules, because a
// reference to an empty policy is most likely a mistake.
func LoadPolicyFromConfigMap(
	ctx context.Context,
	c client.Reader,
	key client.ObjectKey,
) (map[string]string, error) {
	var cm corev1.ConfigMap
	if err := c.Get(ctx, key, &cm); err != nil {
		return nil, fmt.Errorf("getting policy ConfigMap %s: %w", key, err)
	}
	content, ok := cm.Data[commontypes.PolicyConfigMapKey]
	if !ok {
		return nil, fmt.Errorf("ConfigMap %s does not contain key %q", key, commontypes.PolicyConfigMapKey)
	}
	rules, err := Parse([]byte(content))
	if err != nil {
		return nil, fmt.Errorf("parsing %s from ConfigMap %s: %w", commontypes.PolicyConfigMapKey, key, err)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("%s of ConfigMap %s is empty: add at least one rule or remove the reference",
			commontypes.PolicyConfigMapKey, key)
	}
	return rules, nil
}
