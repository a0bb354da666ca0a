package vocabulary

// Condition types and reasons that mean the same on every kind. Reconciling
// and Stalled follow kstatus: they are present and True only while the
// abnormal state lasts, so that kubectl wait, Flux and Argo CD understand the
// resource without custom health checks
// (https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus).
const (
	// ConditionReady is True when everything is as the spec asks.
	ConditionReady = "Ready"
	// ConditionReconciling is present and True, as kstatus defines it, while the operator still works towards the spec.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present and True, as kstatus defines it, when the operator cannot proceed without a change by the user.
	// Its reason is InvalidSpec, or that of the condition which says what to change.
	ConditionStalled = "Stalled"

	// ConditionPaused is present and True while an annotation of the resource keeps the operator from working on it.
	ConditionPaused = "Paused"

	// ReasonAllReady: nothing to do.
	ReasonAllReady = "AllReady"
	// ReasonNotAllReady: look at the conditions the message names.
	ReasonNotAllReady = "NotAllReady"
	// ReasonProgressing: wait; the message names what is not ready yet.
	ReasonProgressing = "Progressing"
	// ReasonInvalidSpec: change the field that the message names; the operator changes nothing until then.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonDeleting: wait; the message names what is still being removed.
	ReasonDeleting = "Deleting"
	// ReasonReconcileError: look at the error in the message; the operator retries.
	ReasonReconcileError = "ReconcileError"
	// ReasonHibernated: remove spec.hibernation when the service is needed again.
	ReasonHibernated = "Hibernated"
	// ReasonHibernating: wait; the message names what still runs.
	ReasonHibernating = "Hibernating"
	// ReasonPaused: remove the annotation that the message names when the operator may continue.
	ReasonPaused = "Paused"
)
