package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// The API's package does without the engine's, whose words it documents.
func TestTheEngineSpeaksTheWordsOfTheAPI(t *testing.T) {
	for engine, api := range map[string]string{
		reconcile.ConditionReady:       keystonev1alpha1.ConditionReady,
		reconcile.ConditionReconciling: keystonev1alpha1.ConditionReconciling,
		reconcile.ConditionStalled:     keystonev1alpha1.ConditionStalled,
		reconcile.ReasonAllReady:       keystonev1alpha1.ReasonAllReady,
		reconcile.ReasonNotAllReady:    keystonev1alpha1.ReasonNotAllReady,
		reconcile.ReasonInvalidSpec:    keystonev1alpha1.ReasonInvalidSpec,
		reconcile.ReasonDeleting:       keystonev1alpha1.ReasonDeleting,
		reconcile.ReasonProgressing:    keystonev1alpha1.ReasonProgressing,
	} {
		if engine != api {
			t.Errorf("the engine says %q, the API %q", engine, api)
		}
	}
}
