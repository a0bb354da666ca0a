package types

import corev1 "k8s.io/api/core/v1"

// PolicyConfigMapKey is the key of a policy ConfigMap that holds the rules, a
// YAML map from rule name to rule.
const PolicyConfigMapKey = "policy.yaml"

// PolicySpec overrides rules of a service's oslo.policy.
//
// +kubebuilder:validation:XValidation:rule="!has(self.rules) || self.rules.all(k, size(k) > 0)",message="policy rule name must not be empty"
// +kubebuilder:validation:XValidation:rule="!has(self.rules) || self.rules.all(k, size(self.rules[k]) > 0)",message="policy rule value must not be empty"
type PolicySpec struct {
	// rules maps the name of a policy rule to its definition and takes
	// precedence over a rule of the same name in configMapRef. Example:
	// {"identity:list_users": "role:reader and system_scope:all"}.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=1024
	Rules map[string]string `json:"rules,omitempty"`

	// configMapRef names a ConfigMap in the same namespace that holds more
	// rules, as a YAML map under the key "policy.yaml".
	//
	// +optional
	ConfigMapRef *corev1.LocalObjectReference `json:"configMapRef,omitempty"`
}
