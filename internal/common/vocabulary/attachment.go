package vocabulary

// Condition types and reasons of a resource that a service takes into its configuration, such
// as a store. The first two types are named as in the Gateway API.
const (
	// ConditionAccepted reports whether the service takes the resource into its configuration.
	ConditionAccepted = "Accepted"
	// ConditionProgrammed reports whether all pods of the service have the resource as it is now.
	ConditionProgrammed = "Programmed"

	// ReasonAccepted: nothing to do.
	ReasonAccepted = "Accepted"
	// ReasonExpiresSoon: renew what the message says expires within 30 days, or has expired.
	ReasonExpiresSoon = "ExpiresSoon"
	// ReasonServiceNotFound: create the service that the message names, or correct the reference.
	ReasonServiceNotFound = "ServiceNotFound"
	// ReasonWaitingForCredentials: create the Secret that the message names, or add the missing keys.
	ReasonWaitingForCredentials = "WaitingForCredentials"
	// ReasonDuplicate: delete this resource or the other one that the message names, which stays in use.
	ReasonDuplicate = "Duplicate"

	// ReasonConflictingOptions: remove the options of the service that the message names, or this resource.
	ReasonConflictingOptions = "ConflictingOptions"
	// ReasonVerifying: wait until the Job that the message names has verified the resource.
	ReasonVerifying = "Verifying"
	// ReasonVerificationFailed: do what the message says; the resource is verified again every five minutes, and pods keep what they have.
	ReasonVerificationFailed = "VerificationFailed"

	// ReasonProgrammed: nothing to do.
	ReasonProgrammed = "Programmed"
	// ReasonNotProgrammed: wait until the service has rolled out; look at its conditions if it does not.
	ReasonNotProgrammed = "NotProgrammed"
	// ReasonInUse: do what the message says, such as deleting what is still stored there; the deletion then proceeds.
	ReasonInUse = "InUse"
	// ReasonReleasing: wait until nothing of the service uses the resource any more.
	ReasonReleasing = "Releasing"
)

// Reasons of the condition with which a service reports its attached resources.
const (
	// ReasonAttachmentsReady: nothing to do.
	ReasonAttachmentsReady = "AttachmentsReady"
	// ReasonNoAttachment: create a resource of the kind that the message names.
	ReasonNoAttachment = "NoAttachment"
	// ReasonAttachmentUnusable: repair the resource that the message names; pods keep what they have until then.
	ReasonAttachmentUnusable = "AttachmentUnusable"
)

// AttachmentConditions returns the conditions of a resource that a service takes into its
// configuration, in the order in which they become True.
func AttachmentConditions() []Condition {
	return append([]Condition{
		{
			Type: ConditionAccepted, Aggregated: true,
			True:  []string{ReasonAccepted},
			False: []string{ReasonServiceNotFound, ReasonWaitingForCredentials, ReasonDuplicate, ReasonReconcileError},
		},
		{
			Type: ConditionProgrammed, Aggregated: true,
			True:  []string{ReasonProgrammed},
			False: []string{ReasonNotProgrammed, ReasonInUse, ReasonReleasing, ReasonReconcileError},
		},
	}, attachmentSummary()...)
}

// VerifiedConditions returns [AttachmentConditions] of a resource that a Job verifies.
func VerifiedConditions() []Condition {
	return WithTrue(WithFalse(AttachmentConditions(), ConditionAccepted,
		ReasonConflictingOptions, ReasonVerifying, ReasonVerificationFailed), ConditionAccepted, ReasonExpiresSoon)
}

// attachmentSummary is [Summary] without the reasons of a kind that can hibernate.
func attachmentSummary() []Condition {
	return append([]Condition{{
		Type: ConditionReady, True: []string{ReasonAllReady},
		False: []string{ReasonNotAllReady, ReasonInvalidSpec, ReasonReconcileError, ReasonDeleting},
	}}, Abnormal()...)
}

// AttachmentEvents returns the events of such a resource.
func AttachmentEvents() []Event { return Normal(EventPaused, EventResumed) }

// AttachmentsCondition returns the condition of the type with which a service reports its
// attached resources.
func AttachmentsCondition(conditionType string) Condition {
	return Condition{
		Type: conditionType, Aggregated: true,
		True:  []string{ReasonAttachmentsReady},
		False: []string{ReasonNoAttachment, ReasonAttachmentUnusable, ReasonReconcileError},
	}
}

// OptionalAttachmentsCondition is [AttachmentsCondition] of a service that is ready whatever
// becomes of them.
func OptionalAttachmentsCondition(conditionType string) Condition {
	return Condition{Type: conditionType, True: []string{ReasonAttachmentsReady}, False: []string{ReasonReconcileError}}
}
