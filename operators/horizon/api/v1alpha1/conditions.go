package v1alpha1

// Condition types that only a Horizon has.
const (
	// ConditionSecretKeyReady covers the key that signs cookies.
	ConditionSecretKeyReady = "SecretKeyReady"
	// ConditionHorizonAPIReady reports whether the login page is served.
	ConditionHorizonAPIReady = "HorizonAPIReady"
)

// Reasons that only a Horizon has.
const (
	// ReasonSecretKeyAvailable: nothing to do.
	ReasonSecretKeyAvailable = "SecretKeyAvailable"
	// ReasonWaitingForSecretKey: create the Secret of secretKeyRef with the key that the message names.
	ReasonWaitingForSecretKey = "WaitingForSecretKey"
	// ReasonSecretKeyInvalid: put a longer key into the Secret that the message names.
	ReasonSecretKeyInvalid = "SecretKeyInvalid"
	// ReasonSecretKeyMissing: restore the Secret that the message names, or create it with another key, which ends all sessions.
	ReasonSecretKeyMissing = "SecretKeyMissing"
)
