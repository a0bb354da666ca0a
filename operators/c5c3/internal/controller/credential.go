package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// How a credential is replaced. The name of a credential in Keystone is derived
// from its secret. A new secret in the Secret therefore asks for a credential of
// another name, and the object that has the old one is seen to be outdated, in
// any pass and after any crash. Its credential is first taken over by an object
// of another name, and the object goes without it; then the object of the old
// name makes the new one. The users keep the old one until they have the new
// one, and then it is revoked.

// defaultStallTimeout is how long K-ORC may take for one step of a replacement.
const defaultStallTimeout = 5 * time.Minute

// keepCredential keeps the administrator's application credential, or goes one
// step further in replacing it.
func (s *scope) keepCredential(ctx context.Context) reconcile.Outcome {
	live := &orcv1alpha1.ApplicationCredential{}
	err := s.foreign.Get(ctx, s.key(s.cp.ApplicationCredentialName()), live)
	switch {
	case apierrors.IsNotFound(err):
		return s.mint(ctx, s.freshAnnotations())
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, fmt.Errorf("reading the ApplicationCredential: %w", err))
	case !metav1.IsControlledBy(live, s.cp):
		// EnsureObject reports the owner.
		return s.mint(ctx, live.Annotations)
	case !live.DeletionTimestamp.IsZero():
		return s.awaitRemoval(ctx, live)
	}
	secret := string(s.credential.Data[keyValue])
	if keystoneName(live) != credentialName(s.cp, secret) {
		return s.supersede(ctx, live)
	}
	if why := s.whyReplace(live); why != "" {
		return s.replace(ctx, live, why)
	}
	return s.mint(ctx, s.keptAnnotations(live))
}

// awaitRemoval waits until the object of the replaced credential is gone.
func (s *scope) awaitRemoval(ctx context.Context, old *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	if err := s.prepareRemoval(ctx, old); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return s.reMinting("The object of the replaced credential is being deleted: "+describe(old), old.DeletionTimestamp.Time)
}

// freshAnnotations are those of a credential that is made now.
func (s *scope) freshAnnotations() map[string]string {
	annotations := map[string]string{c5c3v1alpha1.AnnotationAdminPasswordHash: controlplane.Hash(s.adminPassword)}
	if request := s.credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		annotations[c5c3v1alpha1.AnnotationRotationRequest] = request
	}
	return annotations
}

// keptAnnotations are those the live credential has: they tell how it was made,
// and what was asked for since. One that is not made yet will be made with the
// password of now.
func (s *scope) keptAnnotations(live *orcv1alpha1.ApplicationCredential) map[string]string {
	fresh := s.freshAnnotations()
	hash, stamped := live.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	if stamped && live.Status.ID != nil {
		fresh[c5c3v1alpha1.AnnotationAdminPasswordHash] = hash
	}
	if request, asked := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; asked {
		fresh[c5c3v1alpha1.AnnotationRotationRequest] = request
	}
	return fresh
}

// whyReplace says why the credential has to be replaced, "" when it is fine.
func (s *scope) whyReplace(live *orcv1alpha1.ApplicationCredential) string {
	wanted := applicationCredential(s.cp, keystoneName(live), nil)
	if !equality.Semantic.DeepEqual(live.Spec.Resource, wanted.Spec.Resource) {
		return "the spec asks for other rights"
	}
	if live.Status.ID == nil {
		return ""
	}
	hash, stamped := live.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	mode := s.cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	// A pass that ran at the same time may have written the hash anew.
	request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	unanswered := request != "" && request != s.credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	switch {
	case stamped && hash == "", unanswered:
		return "it was requested"
	case stamped && mode == c5c3v1alpha1.RotationPasswordDriven && hash != controlplane.Hash(s.adminPassword):
		return "the administrator's password has changed"
	case stateOf(live).failed:
		return "K-ORC has lost the old one: " + describe(live)
	case s.isRejected(live):
		return "Keystone refuses the old one"
	}
	return ""
}

// replace begins a replacement by a single write: a new secret. The clouds.yaml
// beside it stays that of the old credential.
func (s *scope) replace(ctx context.Context, live *orcv1alpha1.ApplicationCredential, why string) reconcile.Outcome {
	if request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		metav1.SetMetaDataAnnotation(&s.credential.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, request)
	}
	metav1.SetMetaDataAnnotation(&s.credential.ObjectMeta, c5c3v1alpha1.AnnotationReplacedSince, s.now().UTC().Format(time.RFC3339))
	s.credential.Data = map[string][]byte{keyValue: newSecretValue(), clouds.Key: s.credential.Data[clouds.Key]}
	if err := s.client.Update(ctx, s.credential); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, fmt.Errorf("storing a new secret for the application credential: %w", err))
	}
	return s.reMinting("A new application credential is being created because "+why, s.now())
}

// replacedSince is when the replacement began. The condition may have been False
// before, for another reason.
func (s *scope) replacedSince() time.Time {
	since := s.failingSince(c5c3v1alpha1.ConditionKORCReady)
	began, err := time.Parse(time.RFC3339, s.credential.Annotations[c5c3v1alpha1.AnnotationReplacedSince])
	if err == nil && began.After(since) && began.Before(s.now()) {
		return began
	}
	return since
}

// isInUse reports whether the users have the credential, or are about to get it.
func (s *scope) isInUse(ctx context.Context, credential *orcv1alpha1.ApplicationCredential) (bool, error) {
	if credential.Status.ID == nil {
		return false, nil
	}
	delivered, err := s.deliveredClouds(ctx)
	if err != nil {
		return false, err
	}
	for _, text := range [][]byte{s.credential.Data[clouds.Key], delivered} {
		if id, _ := clouds.CredentialIn(text); id == *credential.Status.ID {
			return true, nil
		}
	}
	return false, nil
}

// reMinting reports a step of a replacement that began at the given time.
func (s *scope) reMinting(message string, since time.Time) reconcile.Outcome {
	if passed := s.now().Sub(since); passed >= s.stallTimeout {
		return reconcile.Waiting(c5c3v1alpha1.ReasonReMintStalled, fmt.Sprintf(
			"%s, for more than %s; repair K-ORC or its connection to Keystone; the users keep the old credential",
			message, s.stallTimeout)).After(s.soon())
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonReMinting, message).After(s.soon())
}

// soon is when to look again at something that no watch tells about.
func (s *scope) soon() time.Duration {
	s.lookAgain(min(s.stallTimeout/2, time.Minute))
	return s.again
}

// mint keeps the credential with the current secret and reports how far it is.
func (s *scope) mint(ctx context.Context, annotations map[string]string) reconcile.Outcome {
	credential := applicationCredential(s.cp, credentialName(s.cp, string(s.credential.Data[keyValue])), annotations)
	since := s.failingSince(c5c3v1alpha1.ConditionKORCReady)
	if err := apply.EnsureObject(ctx, s.foreign, s.scheme, s.cp, credential, fieldManager); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	s.applicationCredential = credential
	state := stateOf(credential)
	switch {
	case state.failed && credential.Status.ID == nil:
		return s.mintAgain(ctx, credential, since)
	case !state.available || credential.Status.ID == nil:
		return s.waitForMint(ctx, credential)
	}
	s.reportCredential(credential)
	return s.reportSuperseded(ctx)
}

// waitForMint words the wait for K-ORC by what keeps it waiting.
func (s *scope) waitForMint(ctx context.Context, credential *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	parts := []string{"Waiting for " + describe(credential)}
	if imports := s.waitingImports(); imports != "" {
		parts = append(parts, "it needs "+imports)
	}
	missing, err := s.explainMissingClouds(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	if missing != "" {
		parts = append(parts, missing)
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForApplicationCredential, strings.Join(parts, "; ")).After(s.again)
}

// mintAgain has K-ORC try once more what it has given up.
func (s *scope) mintAgain(ctx context.Context, credential *orcv1alpha1.ApplicationCredential, since time.Time) reconcile.Outcome {
	wait := s.retryAfter(stateOf(credential).since, since)
	if wait == 0 {
		// K-ORC looks for a credential of that name, should it have been made.
		if err := s.remove(ctx, credential); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
		}
		wait = s.retryPeriod
	}
	message := "K-ORC has given up: " + describe(credential)
	if imports := s.waitingImports(); imports != "" {
		message += "; it needs " + imports
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonApplicationCredentialFailed, message+"; "+korcRemedy).After(wait)
}

// reportCredential shows the credential in the status.
func (s *scope) reportCredential(credential *orcv1alpha1.ApplicationCredential) {
	status := &c5c3v1alpha1.AdminApplicationCredentialStatus{
		ID: *credential.Status.ID, Restricted: !ptr.Deref(credential.Spec.Resource.Unrestricted, false),
	}
	if credential.Status.Resource != nil {
		status.Restricted = !credential.Status.Resource.Unrestricted
	}
	if known := s.cp.Status.AdminApplicationCredential; known != nil && known.ID == status.ID && known.LastRotation != nil {
		status.LastRotation = known.LastRotation
	} else {
		status.LastRotation = ptr.To(metav1.NewTime(s.now()).Rfc3339Copy())
	}
	s.cp.Status.AdminApplicationCredential = status
}

// supersededCredentials are the credentials that wait for their revocation.
func (s *scope) supersededCredentials(ctx context.Context) ([]*orcv1alpha1.ApplicationCredential, error) {
	var list orcv1alpha1.ApplicationCredentialList
	err := s.foreign.List(ctx, &list, client.InNamespace(s.cp.Namespace), client.HasLabels{c5c3v1alpha1.LabelSuperseded})
	if err != nil {
		return nil, fmt.Errorf("listing superseded ApplicationCredentials: %w", err)
	}
	var ours []*orcv1alpha1.ApplicationCredential
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], s.cp) {
			ours = append(ours, &list.Items[i])
		}
	}
	return ours, nil
}

// reportSuperseded does not let it pass unseen that an old credential stays
// valid.
func (s *scope) reportSuperseded(ctx context.Context) reconcile.Outcome {
	superseded, err := s.supersededCredentials(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	for _, old := range superseded {
		since, overdue := s.overdueSince(old)
		if !overdue {
			continue
		}
		s.lookAgain(min(s.stallTimeout/2, time.Minute))
		if s.now().Sub(since) >= s.stallTimeout {
			return reconcile.Waiting(c5c3v1alpha1.ReasonReMintStalled, s.explainOverdue(old)).After(s.again).Proceed()
		}
	}
	message := "The administrator has the application credential " + *s.applicationCredential.Status.ID
	unscheduled, err := s.lacksSchedule(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	if unscheduled {
		message += "; create a CredentialRotation with intervalDays: though the rotation mode is Scheduled, nothing replaces it"
	}
	done := reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, message)
	if s.again > 0 {
		return done.After(s.again)
	}
	return done
}

// lacksSchedule reports whether a schedule is to replace the credential and there is
// none.
func (s *scope) lacksSchedule(ctx context.Context) (bool, error) {
	if s.cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode != c5c3v1alpha1.RotationScheduled {
		return false, nil
	}
	var rotations c5c3v1alpha1.CredentialRotationList
	if err := s.client.List(ctx, &rotations, client.InNamespace(s.cp.Namespace)); err != nil {
		return false, fmt.Errorf("listing the CredentialRotations of the namespace: %w", err)
	}
	return !slices.ContainsFunc(rotations.Items, func(r c5c3v1alpha1.CredentialRotation) bool {
		return r.DeletionTimestamp.IsZero() && r.Spec.HasSchedule()
	}), nil
}

func (s *scope) explainOverdue(old *orcv1alpha1.ApplicationCredential) string {
	if !old.DeletionTimestamp.IsZero() {
		return fmt.Sprintf("K-ORC has not released a replaced credential: %s; repair K-ORC or its connection to Keystone", describe(old))
	}
	return fmt.Sprintf("The replaced credential is still valid: %s; repair the operator's connection to %s, "+
		"or the administrator's password in Secret %s", describe(old), authURL(s.cp), s.cp.AdminSecretRef().Name)
}
