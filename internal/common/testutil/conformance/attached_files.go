package conformance

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// exitUnfit is the exit code of the task that verifies a resource if no retry can help.
const exitUnfit = 3

// isReady waits until the service is Ready, which it is whatever becomes of the resources.
func (a *attachedTo[T, A]) isReady() {
	a.Helper()
	a.serviceIs(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

func (s attachedTrial[T, A]) lostCredentialsOfOne(t *testing.T) {
	a := s.start(t, firstAttached, secondAttached)
	a.ready(firstAttached, secondAttached)
	before := a.configuration(firstAttached)
	secret := s.Credentials(a.namespace(), firstAttached)
	objects.Delete(t, s.Admin, secret)
	a.is(firstAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials, secret.Name)
	a.serviceIs(s.Condition, metav1.ConditionTrue, vocabulary.ReasonAttachmentsReady, firstAttached+" as it was")
	// Others change meanwhile.
	a.change(secondAttached, "another-value")
	a.ready(secondAttached)
	a.entry(firstAttached, "that of before", func(e *commonv1.Attached) bool { return e != nil && e.Configuration == before })
	a.isReady()
	objects.Create(t, s.Admin, client.Object(s.Credentials(a.namespace(), firstAttached)))
	a.ready(firstAttached)
}

func (s attachedTrial[T, A]) verified(t *testing.T) {
	a := s.start(t, firstAttached)
	a.ready(firstAttached)
	before := a.configuration(firstAttached)
	a.verifying(firstAttached, standin.Hang())
	a.change(firstAttached, "wrong-value")
	a.is(firstAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonVerifying, "Job")
	a.verifying(firstAttached, standin.FailWith(exitUnfit, "the account is refused"))
	a.is(firstAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonVerificationFailed, "the account is refused")
	a.is(firstAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonNotProgrammed)
	a.entry(firstAttached, "that of before", func(e *commonv1.Attached) bool { return e != nil && e.Configuration == before })
	a.isReady()
	a.verifying(firstAttached, standin.Succeed())
	a.change(firstAttached, "right-value")
	a.ready(firstAttached)
}

// releasing starts with a resource that is deleted, and that pods still have.
func (s attachedTrial[T, A]) releasing(t *testing.T) *attachedTo[T, A] {
	t.Helper()
	a := s.start(t, firstAttached)
	a.ready(firstAttached)
	a.Deployments.Set(a.namespace(), a.service.GetName(), standin.Hang())
	a.remove(firstAttached)
	a.is(firstAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonReleasing)
	return a
}

func (s attachedTrial[T, A]) endsUncounted(t *testing.T) {
	a := s.releasing(t)
	a.Deployments.Set(a.namespace(), a.service.GetName(), standin.Succeed())
	a.gone(firstAttached)
	a.entry(firstAttached, "gone", func(e *commonv1.Attached) bool { return e == nil })
	a.isReady()
}

func (s attachedTrial[T, A]) goesUncounted(t *testing.T) {
	a := s.releasing(t)
	objects.Delete(t, s.Admin, client.Object(a.service))
	a.gone(firstAttached)
}
