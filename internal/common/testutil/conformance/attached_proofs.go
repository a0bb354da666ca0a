package conformance

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// exitInUse is the exit code of the task that counts if it finds something.
const exitInUse = 3

// without starts an operator and the named resources without the service.
func (s attachedTrial[T, A]) without(t *testing.T, names ...string) *attachedTo[T, A] {
	t.Helper()
	k := s.kind(t)
	k.Inputs = s.inputs
	o := Trial[A]{k, s.World}.prepared(t)
	a := &attachedTo[T, A]{s, *o, s.service(o.namespace())}
	objects.Create(t, s.Admin, s.resources(o.namespace(), names...)...)
	return a
}

func (s attachedTrial[T, A]) withoutService(t *testing.T) {
	a := s.without(t, firstAttached)
	a.is(firstAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonServiceNotFound,
		a.service.GetName(), "create it")
	objects.Create(t, s.Admin, client.Object(a.service))
	a.ready(firstAttached)
	a.serviceIs(s.Condition, metav1.ConditionTrue, vocabulary.ReasonAttachmentsReady)
}

func (s attachedTrial[T, A]) withoutCredentials(t *testing.T) {
	a := s.start(t, s.others()...)
	a.ready(s.others()...)
	incomplete := s.Credentials(a.namespace(), secondAttached)
	incomplete.StringData = nil
	objects.Create(t, s.Admin, client.Object(a.named(secondAttached)))
	a.is(secondAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials,
		incomplete.Name, "does not exist")
	a.is(secondAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonNotProgrammed)
	objects.Create(t, s.Admin, client.Object(incomplete))
	a.is(secondAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonWaitingForCredentials, incomplete.Name, "lacks")
	a.ready(s.others()...)
	a.serviceIs(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	whole := s.Credentials(a.namespace(), secondAttached)
	objects.Change(t, s.Admin, incomplete, func(secret *corev1.Secret) { secret.StringData = whole.StringData })
	a.ready(append(s.others(), secondAttached)...)
}

func (s attachedTrial[T, A]) duplicates(t *testing.T) {
	a := s.start(t, firstAttached)
	a.ready(firstAttached)
	duplicate := a.named(secondAttached)
	s.Duplicate(duplicate, a.named(firstAttached))
	objects.Create(t, s.Admin, client.Object(s.Credentials(a.namespace(), secondAttached)), client.Object(duplicate))
	a.is(secondAttached, vocabulary.ConditionAccepted, metav1.ConditionFalse, vocabulary.ReasonDuplicate, firstAttached)
	a.ready(firstAttached)
	a.serviceIs(s.Condition, metav1.ConditionTrue, vocabulary.ReasonAttachmentsReady, secondAttached)
	// No pod has ever had it, so nothing is counted.
	a.remove(secondAttached)
	a.gone(secondAttached)
}

func (s attachedTrial[T, A]) credentials(t *testing.T) {
	a := s.start(t, firstAttached)
	a.ready(firstAttached)
	before := a.configuration(firstAttached)
	a.Deployments.Set(a.namespace(), a.service.GetName(), standin.Hang())
	a.change(firstAttached, "another-value")
	a.is(firstAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonNotProgrammed, a.service.GetName())
	a.Deployments.Set(a.namespace(), a.service.GetName(), standin.Succeed())
	a.entry(firstAttached, "new", func(e *commonv1.Attached) bool { return e != nil && e.Configuration != before })
	a.ready(firstAttached)
}

// configuration returns what identifies the configuration of the named resource.
func (a *attachedTo[T, A]) configuration(name string) string {
	a.Helper()
	resource := a.named(name)
	expect.Exists(a.T, a.Admin, client.Object(resource))
	return resource.AttachmentStatus().Configuration
}

func (s attachedTrial[T, A]) lostCredentials(t *testing.T) {
	a := s.start(t, firstAttached)
	a.ready(firstAttached)
	before := a.configuration(firstAttached)
	secret := s.Credentials(a.namespace(), firstAttached)
	objects.Delete(t, s.Admin, secret)
	a.serviceIs(s.Condition, metav1.ConditionFalse, vocabulary.ReasonAttachmentUnusable, firstAttached, secret.Name)
	a.entry(firstAttached, "that of before", func(e *commonv1.Attached) bool { return e != nil && e.Configuration == before })
	objects.Create(t, s.Admin, client.Object(s.Credentials(a.namespace(), firstAttached)))
	a.ready(firstAttached)
	a.serviceIs(s.Condition, metav1.ConditionTrue, vocabulary.ReasonAttachmentsReady)
}

func (s attachedTrial[T, A]) ends(t *testing.T) {
	a := s.start(t, append(s.others(), secondAttached)...)
	a.ready(append(s.others(), secondAttached)...)
	a.counting(secondAttached, standin.Hang())
	a.remove(secondAttached)
	a.is(secondAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonReleasing)
	a.entry(secondAttached, "configured still", func(e *commonv1.Attached) bool {
		return e != nil && e.Phase == commonv1.AttachedEmptying && e.Configuration != ""
	})
	a.counting(secondAttached, standin.Succeed())
	a.gone(secondAttached)
	a.entry(secondAttached, "gone", func(e *commonv1.Attached) bool { return e == nil })
	a.ready(s.others()...)
	a.serviceIs(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

func (s attachedTrial[T, A]) comesBack(t *testing.T) {
	a := s.start(t, append(s.others(), secondAttached)...)
	a.ready(append(s.others(), secondAttached)...)
	a.counting(secondAttached, standin.FailWith(exitInUse, s.Item))
	a.remove(secondAttached)
	a.is(secondAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonInUse, s.Item)
	a.is(secondAttached, vocabulary.ConditionReady, metav1.ConditionFalse, vocabulary.ReasonDeleting, s.Item)
	a.entry(secondAttached, "configured still", func(e *commonv1.Attached) bool { return e != nil && e.Configuration != "" })
	a.serviceIs(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

func (s attachedTrial[T, A]) needed(t *testing.T) {
	a := s.start(t)
	if s.Need != nil {
		objects.Change(t, s.Admin, a.service, func(service T) { s.Need(service, firstAttached) })
	}
	a.serviceIs(s.Condition, metav1.ConditionFalse, vocabulary.ReasonNoAttachment)
	objects.Create(t, s.Admin, s.resources(a.namespace(), firstAttached)...)
	a.ready(firstAttached)
	a.remove(firstAttached)
	a.is(firstAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonInUse)
	a.serviceIs(vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

func (s attachedTrial[T, A]) goesWithItsService(t *testing.T) {
	a := s.start(t, firstAttached)
	a.ready(firstAttached)
	a.counting(firstAttached, standin.FailWith(exitInUse, s.Item))
	a.remove(firstAttached)
	a.is(firstAttached, vocabulary.ConditionProgrammed, metav1.ConditionFalse, vocabulary.ReasonInUse)
	objects.Delete(t, s.Admin, client.Object(a.service))
	a.gone(firstAttached)
}
