package apitest

import (
	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// optionsViolations concern the options and the policy of the service.
var optionsViolations = []optionsViolation{
	{
		"policy overrides without a source", func(s *commonv1.OptionsSpec) { s.PolicyOverrides = &commonv1.PolicySpec{} },
		"spec.policyOverrides", "at least one of rules or configMapRef must be set",
		"at least one of rules or configMapRef must be set", "",
	},
	{
		"a policy rule without a name", func(s *commonv1.OptionsSpec) {
			s.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"": "role:admin"}}
		},
		"spec.policyOverrides.rules", "policy rule name must not be empty", "policy rule name must not be empty", "spec.policyOverrides",
	},
	{
		"a policy rule without a definition", func(s *commonv1.OptionsSpec) {
			s.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"service:list": ""}}
		},
		"spec.policyOverrides.rules[service:list]", "policy rule value must not be empty",
		"policy rule value must not be empty", "spec.policyOverrides",
	},
	{
		"a policy ConfigMap without a name", func(s *commonv1.OptionsSpec) {
			s.PolicyOverrides = &commonv1.PolicySpec{ConfigMapRef: &corev1.LocalObjectReference{}}
		},
		"spec.policyOverrides.configMapRef.name", "Required value", "", "",
	},
	{
		"an extra section that closes its header", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a]": {"b": "c"}}
		},
		"spec.extraConfig[a]]", "square brackets", "", "",
	},
	{
		"two extra sections whose names differ in case", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"Cache": {"a": "b"}, "cache": {"a": "c"}}
		},
		"spec.extraConfig[cache]", "Duplicate value", "", "",
	},
	{
		"a global section that closes its header", func(s *commonv1.OptionsSpec) {
			s.GlobalExtraConfig = map[string]map[string]string{"a]": {"b": "c"}}
		},
		"spec.globalExtraConfig[a]]", "square brackets", "", "",
	},
	{
		"a global value with a line break", func(s *commonv1.OptionsSpec) {
			s.GlobalExtraConfig = map[string]map[string]string{"a": {"b": "c\n[DEFAULT]\ndebug = true"}}
		},
		"spec.globalExtraConfig[a][b]", "must not contain a line break", "", "",
	},
	{
		"secret options of nobody", secretOptionsOf("", ""),
		"spec.extraConfigSecretRef.name", "Required value", TooShort, "",
	},
	{
		"secret options under a key that cannot exist", secretOptionsOf("secret-options", "a b"),
		"spec.extraConfigSecretRef.key", "a valid config key", NoMatch, "",
	},
	{
		"an extra option with an equals sign", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"b=c": "d"}}
		},
		"spec.extraConfig[a][b=c]", "must not contain '='", "", "",
	},
	{
		"an extra section without a name", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"": {"b": "c"}}
		},
		"spec.extraConfig[]", "section name must not be empty", "", "",
	},
	{
		"an extra option without a name", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"": "c"}}
		},
		"spec.extraConfig[a][]", "option name must not be empty", "", "",
	},
	{
		"an extra option that is a comment", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"#b": "c"}}
		},
		"spec.extraConfig[a][#b]", "must not begin with '#', ';' or '['", "", "",
	},
	{
		"an extra option with a space", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"set b": "c"}}
		},
		"spec.extraConfig[a][set b]", "must not contain white space", "", "",
	},
	{
		"an extra value with a tab", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"b": "c\td"}}
		},
		"spec.extraConfig[a][b]", "must not contain control characters", "", "",
	},
	{
		"an extra value that begins with a space", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"b": " c"}}
		},
		"spec.extraConfig[a][b]", "must not begin or end with white space", "", "",
	},
	{
		"an extra value with a line break", func(s *commonv1.OptionsSpec) {
			s.ExtraConfig = map[string]map[string]string{"a": {"b": "c\n[DEFAULT]\ndebug = true"}}
		},
		"spec.extraConfig[a][b]", "must not contain a line break", "", "",
	},
}

func secretOptionsOf(name, key string) func(*commonv1.OptionsSpec) {
	return func(s *commonv1.OptionsSpec) { s.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: name, Key: key} }
}
