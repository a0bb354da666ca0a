package v1alpha1

// Condition types that only a Placement has.
const (
	// ConditionServiceUserReady covers the user as which Placement validates tokens at the Identity service.
	ConditionServiceUserReady = "ServiceUserReady"
	// ConditionPlacementAPIReady reports whether the API answers.
	ConditionPlacementAPIReady = "PlacementAPIReady"
)

// Reasons of conditions that only a Placement has.
const (
	// ReasonServiceUserAccepted: nothing to do.
	ReasonServiceUserAccepted = "ServiceUserAccepted"
	// ReasonWaitingForServiceUser: create the Secret of serviceUserSecretRef with the keys the message names.
	ReasonWaitingForServiceUser = "WaitingForServiceUser"
	// ReasonServiceUserCheckInProgress: wait; the user logs in to the Identity service.
	ReasonServiceUserCheckInProgress = "ServiceUserCheckInProgress"
	// ReasonServiceUserRefused: correct what the message names; the API pods keep their current user.
	ReasonServiceUserRefused = "ServiceUserRefused"
)
