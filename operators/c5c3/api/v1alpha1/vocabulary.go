package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ConditionDoc tells which reasons a condition has. What a reason means to the
// user stands once, at its constant.
//
// +kubebuilder:object:generate=false
type ConditionDoc struct {
	// Type is the condition's type.
	Type string
	// Aggregated tells whether Ready needs this condition to be True.
	Aggregated bool
	// True and False are the reasons the condition has with that status.
	True, False []string
}

// EventDoc tells whether an event reports a problem.
//
// +kubebuilder:object:generate=false
type EventDoc struct {
	// Reason is the event's reason.
	Reason string
	// Type is Normal or Warning.
	Type string
}

// Vocabulary is what one kind says about itself.
//
// +kubebuilder:object:generate=false
type Vocabulary struct {
	// Kind is the kind's name.
	Kind string
	// Conditions are its conditions, in the order in which they become True,
	// with all their reasons. ReasonReconcileError belongs to every condition
	// and is listed with Ready only.
	Conditions []ConditionDoc
	// Events are its events.
	Events []EventDoc
}

// Vocabularies returns what each kind of the package says about itself.
func Vocabularies() []Vocabulary {
	return []Vocabulary{
		{
			Kind:       "ControlPlane",
			Conditions: append(append(serviceConditions(), credentialConditions()...), controlPlaneSummary()...),
			Events: []EventDoc{
				{EventFinalizingORC, corev1.EventTypeNormal},
				{EventORCTeardownComplete, corev1.EventTypeNormal},
				{EventORCTeardownStalled, corev1.EventTypeWarning},
				{EventKeystoneTeardownStalled, corev1.EventTypeWarning},
			},
		},
		{
			Kind:       "CredentialRotation",
			Conditions: rotationConditions(),
			Events:     []EventDoc{{EventRotationNudged, corev1.EventTypeNormal}},
		},
		{
			Kind:       "SecretAggregate",
			Conditions: aggregateConditions(),
			Events:     []EventDoc{{EventSecretsAggregated, corev1.EventTypeNormal}},
		},
	}
}

func serviceConditions() []ConditionDoc {
	return []ConditionDoc{
		{
			Type: ConditionInfrastructureReady, Aggregated: true,
			True: []string{ReasonInfrastructureReady},
			False: []string{
				ReasonMariaDBNotInstalled, ReasonMariaDBError, ReasonWaitingForDatabase,
				ReasonMemcachedNotInstalled, ReasonMemcachedError, ReasonWaitingForCache,
			},
		},
		{
			Type: ConditionDBCredentialsReady, Aggregated: true,
			True: []string{ReasonDBCredentialsReady, ReasonBrownfieldUserSuppliedCredential},
			False: []string{
				ReasonExternalSecretsNotInstalled, ReasonExternalSecretError, ReasonSecretStoreNotReady, ReasonWaitingForDBCredentialSecret,
			},
		},
		{
			Type: ConditionAdminPasswordReady, Aggregated: true,
			True: []string{ReasonAdminPasswordReady, ReasonBrownfieldUserSuppliedCredential},
			False: []string{
				ReasonExternalSecretsNotInstalled, ReasonExternalSecretError, ReasonSecretStoreNotReady, ReasonWaitingForAdminPasswordSecret,
			},
		},
		{
			Type: ConditionKeystoneReady, Aggregated: true,
			True: []string{ReasonKeystoneReady, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForInfrastructure, ReasonKeystoneNotInstalled, ReasonKeystoneError,
				ReasonKeystoneProjectionRejected, ReasonRollBackRefused, ReasonWaitingForKeystone,
				ReasonFinalizingKeystone,
			},
		},
	}
}

func credentialConditions() []ConditionDoc {
	return []ConditionDoc{
		{
			Type: ConditionKORCReady, Aggregated: true,
			True: []string{ReasonApplicationCredentialMinted, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForKeystone, ReasonKORCNotInstalled, ReasonWaitingForAdminPassword, ReasonAdminPasswordError,
				ReasonPasswordCloudError, ReasonAdminImportError, ReasonSecretError, ReasonSeedCloudsYamlError, ReasonPushSecretError,
				ReasonExternalSecretError, ReasonApplicationCredentialError, ReasonApplicationCredentialFailed,
				ReasonWaitingForApplicationCredential, ReasonReMinting, ReasonReMintStalled, ReasonExternalSecretsNotInstalled,
				ReasonBootstrapResourceError, ReasonWaitingForBootstrapResources, ReasonFinalizingORC,
			},
		},
		{
			Type: ConditionAdminCredentialReady, Aggregated: true,
			True: []string{ReasonAdminCredentialReady, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForKORC, ReasonSecretStoreNotReady, ReasonCloudsYamlError, ReasonWaitingForCloudsYaml,
				ReasonCredentialUnproven, ReasonCredentialRejected, ReasonSecretError, ReasonPushSecretError,
				ReasonWaitingForPushSecret, ReasonWaitingForCloudsYamlSync, ReasonCloudsYamlSyncStuck,
			},
		},
		{
			Type: ConditionCatalogReady, Aggregated: true,
			True: []string{ReasonCatalogRegistered, ReasonKeystoneNotManaged},
			False: []string{
				ReasonWaitingForAdminCredential, ReasonServiceError, ReasonEndpointError, ReasonWaitingForCatalog, ReasonCatalogFailed,
			},
		},
	}
}

func controlPlaneSummary() []ConditionDoc {
	return append([]ConditionDoc{{
		Type:  ConditionReady,
		True:  []string{ReasonAllReady},
		False: []string{ReasonNotAllReady, ReasonDuplicateControlPlane, ReasonInvalidSpec, ReasonReconcileError, ReasonDeleting},
	}}, kstatusConditions()...)
}

func rotationConditions() []ConditionDoc {
	return append([]ConditionDoc{{
		Type: ConditionReady,
		True: []string{ReasonRotationTriggered, ReasonRotationScheduled, ReasonNoRotationNeeded, ReasonBootstrapComplete},
		False: []string{
			ReasonUnsupportedTarget, ReasonNoControlPlane, ReasonAmbiguousControlPlane, ReasonControlPlaneListError,
			ReasonWaitingForBootstrap, ReasonWaitingForApplicationCredential, ReasonWaitingForAdminPassword,
			ReasonRotationModeNotScheduled, ReasonInvalidSpec, ReasonReconcileError,
		},
	}}, kstatusConditions(ReasonRotationModeNotScheduled)...)
}

func aggregateConditions() []ConditionDoc {
	stalled := []string{ReasonAmbiguousControlPlane, ReasonKeyCollision, ReasonSecretError, ReasonInvalidSpec}
	return []ConditionDoc{
		{
			Type:  ConditionReady,
			True:  []string{ReasonSecretsAggregated},
			False: append([]string{ReasonNoControlPlane, ReasonWaitingForSecrets, ReasonReconcileError}, stalled...),
		},
		{Type: ConditionReconciling, True: []string{ReasonProgressing}},
		{Type: ConditionStalled, True: stalled},
	}
}

func kstatusConditions(stalled ...string) []ConditionDoc {
	return []ConditionDoc{
		{Type: ConditionReconciling, True: []string{ReasonProgressing}},
		{Type: ConditionStalled, True: append([]string{ReasonInvalidSpec}, stalled...)},
	}
}
