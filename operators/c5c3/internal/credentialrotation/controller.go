package credentialrotation

import (
	"context"
	"errors"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// Pipeline lists the steps of a pass over a CredentialRotation.
var Pipeline = reconcile.Pipeline[*scope]{
	{Name: "CredentialRotation", Condition: vocabulary.ConditionReady, Run: reconcileRotation},
}

// scope is one pass over one CredentialRotation.
type scope struct {
	Tools
	rotation *c5c3v1alpha1.CredentialRotation
}

func targetsCredential(rotation *c5c3v1alpha1.CredentialRotation) bool {
	return rotation.Spec.Target == c5c3v1alpha1.RotationTargetAdminApplicationCredential
}

// reconcileRotation requests a new application credential when one is due. It writes the
// request on the credential; the ControlPlane's own controller does the rest.
func reconcileRotation(ctx context.Context, s *scope) reconcile.Outcome {
	rotation := s.rotation
	if !targetsCredential(rotation) {
		return reconcile.Terminal(c5c3v1alpha1.ReasonUnsupportedTarget, fmt.Errorf(
			"spec.target is %q: set it to %s", rotation.Spec.Target, c5c3v1alpha1.RotationTargetAdminApplicationCredential))
	}
	cp, err := controlplane.Only(ctx, s.Client, rotation)
	if err != nil {
		rotation.Status.NextRotation = nil
		return reconcile.Failed(c5c3v1alpha1.ReasonControlPlaneListError, err)
	}
	facts, credential, err := s.facts(ctx, cp)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	decision := decideRotation(facts)
	if decision.request != "" {
		if err := s.request(ctx, credential, decision); err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
	}
	outcome := recordRotation(rotation, decision, facts.now)
	if decision.request != "" {
		return outcome.WithNormalEvent(c5c3v1alpha1.EventRotationNudged,
			"Requested a new application credential for ControlPlane "+cp.Name)
	}
	return outcome
}

func (s *scope) facts(
	ctx context.Context, cp *c5c3v1alpha1.ControlPlane,
) (rotationFacts, *orcv1alpha1.ApplicationCredential, error) {
	facts := rotationFacts{
		rotation: s.rotation, now: s.Now(s.rotation.Namespace), day: s.Day,
		mode: cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode,
	}
	secret, ref := &corev1.Secret{}, cp.AdminSecretRef()
	err := s.Refs.Get(ctx, client.ObjectKey{Namespace: cp.Namespace, Name: ref.Name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return facts, nil, fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	if password := secret.Data[ref.Key]; len(password) > 0 {
		facts.password = controlplane.Hash(string(password))
	}
	credential := &orcv1alpha1.ApplicationCredential{}
	used := cp.Status.AdminApplicationCredential
	if !s.Kinds.Served(orcv1alpha1.SchemeGroupVersion.WithKind("ApplicationCredential")) || used == nil || used.LastRotation == nil {
		return facts, credential, nil
	}
	err = s.Foreign.Get(ctx, client.ObjectKey{Namespace: cp.Namespace, Name: cp.ApplicationCredentialName()}, credential)
	if client.IgnoreNotFound(err) != nil {
		return facts, nil, fmt.Errorf("reading the ApplicationCredential: %w", err)
	}
	// A credential that is still being created or replaced is not replaced.
	facts.exists = err == nil && credential.DeletionTimestamp.IsZero() && metav1.IsControlledBy(credential, cp) &&
		ptr.Deref(credential.Status.ID, "") == used.ID
	facts.inUseSince = used.LastRotation.Time
	facts.request = credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	facts.passwordHash, facts.stamped = credential.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	return facts, credential, nil
}

// request writes the request on exactly the credential that was read.
func (s *scope) request(ctx context.Context, credential *orcv1alpha1.ApplicationCredential, d rotationDecision) error {
	before := credential.DeepCopy()
	metav1.SetMetaDataAnnotation(&credential.ObjectMeta, c5c3v1alpha1.AnnotationAdminPasswordHash, "")
	metav1.SetMetaDataAnnotation(&credential.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, d.request)
	// The overlap promised by an earlier request is kept. An unparsable one is ignored.
	promised, _ := time.ParseDuration(credential.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap])
	if overlap := max(promised, d.overlap); overlap > 0 {
		metav1.SetMetaDataAnnotation(&credential.ObjectMeta, c5c3v1alpha1.AnnotationCredentialOverlap, overlap.String())
	}
	return apply.Merge(ctx, s.Foreign, before, credential, "requesting a successor of")
}

// recordRotation records in the status what later decisions depend on.
func recordRotation(rotation *c5c3v1alpha1.CredentialRotation, d rotationDecision, now time.Time) reconcile.Outcome {
	status := &rotation.Status
	status.NextRotation = d.next
	if d.reMinted {
		status.LastTriggeredGeneration = rotation.Generation
	}
	ready := meta.FindStatusCondition(status.Conditions, vocabulary.ConditionReady)
	reported := ready != nil && ready.ObservedGeneration == rotation.Generation && ready.Reason == c5c3v1alpha1.ReasonRotationTriggered
	switch {
	case d.triggered && !reported:
		status.LastRotation = ptr.To(metav1.NewTime(now).Rfc3339Copy())
	case reported && d.idle:
		// That a new credential was requested stays valid while it is being created, and
		// once it exists.
		return reconcile.Done(ready.Reason, ready.Message)
	}
	return d.outcome()
}

func (d rotationDecision) outcome() reconcile.Outcome {
	switch {
	case d.ready:
		return reconcile.Done(d.reason, d.message).After(d.after)
	case d.contradictory:
		return reconcile.Terminal(d.reason, errors.New(d.message))
	}
	return reconcile.Waiting(d.reason, d.message)
}
