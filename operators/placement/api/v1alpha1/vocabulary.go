package v1alpha1

import "github.com/c5c3/forge/internal/common/vocabulary"

// Words that mean the same on every kind; see package vocabulary.
const (
	ConditionReady       = vocabulary.ConditionReady
	ConditionReconciling = vocabulary.ConditionReconciling
	ConditionStalled     = vocabulary.ConditionStalled

	ReasonAllReady       = vocabulary.ReasonAllReady
	ReasonNotAllReady    = vocabulary.ReasonNotAllReady
	ReasonInvalidSpec    = vocabulary.ReasonInvalidSpec
	ReasonDeleting       = vocabulary.ReasonDeleting
	ReasonProgressing    = vocabulary.ReasonProgressing
	ReasonReconcileError = vocabulary.ReasonReconcileError
)
