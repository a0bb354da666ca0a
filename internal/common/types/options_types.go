package types

// OptionsSpec is the part of a spec about the options and the policy of a service that reads
// both as oslo.config and oslo.policy do. The kinds of such services embed it next to
// [ServiceSpec].
type OptionsSpec struct {
	// policyOverrides changes rules of the service's API policy. The operator validates the
	// rules with the image before pods get them.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.rules) && size(self.rules) > 0) || has(self.configMapRef)",message="at least one of rules or configMapRef must be set"
	PolicyOverrides *PolicySpec `json:"policyOverrides,omitempty"`

	// globalExtraConfig has options like those of extraConfig that a ControlPlane sets for all
	// of its services. The options of extraConfig, of its Secret and of plugins take
	// precedence; status.overriddenOptions lists the options that have no effect. The
	// service ignores options that it does not know.
	//
	// +optional
	GlobalExtraConfig map[string]map[string]string `json:"globalExtraConfig,omitempty"`

	// extraConfig adds options to the service's configuration file, by section and option,
	// and takes precedence over what the operator sets. The description of spec names the
	// reserved options, if there are any. Each value is a string. Example: {"DEFAULT":
	// {"debug": "true"}}.
	//
	// +optional
	ExtraConfig map[string]map[string]string `json:"extraConfig,omitempty"`

	// extraConfigSecretRef names a Secret with further options, for values that are secret.
	// The default key is the name of the service's configuration file, and the entry has
	// the format of that file: a line with the [section], then one line for each option. An
	// option that accepts several values may have several lines. These options take
	// precedence over those of extraConfig. Example: {"name": "ldap-options"}.
	//
	// +optional
	ExtraConfigSecretRef *SecretRefSpec `json:"extraConfigSecretRef,omitempty"`
}
