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
func (m *manager) keepCredential(ctx context.Context) reconcile.Outcome {
	live := &orcv1alpha1.ApplicationCredential{}
	err := m.foreign.Get(ctx, m.key(m.cp.ApplicationCredentialName()), live)
	switch {
	case apierrors.IsNotFound(err):
		return m.mint(ctx, m.freshAnnotations())
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, fmt.Errorf("reading the ApplicationCredential: %w", err))
	case !metav1.IsControlledBy(live, m.cp):
		// EnsureObject reports the owner.
		return m.mint(ctx, live.Annotations)
	case !live.DeletionTimestamp.IsZero():
		return m.awaitRemoval(ctx, live)
	}
	secret := string(m.credential.Data[keyValue])
	if keystoneName(live) != credentialName(m.cp, secret) {
		return m.supersede(ctx, live)
	}
	if why := m.whyReplace(live); why != "" {
		return m.replace(ctx, live, why)
	}
	return m.mint(ctx, m.keptAnnotations(live))
}

// awaitRemoval waits until the object of the replaced credential is gone.
func (m *manager) awaitRemoval(ctx context.Context, old *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	if err := m.prepareRemoval(ctx, old); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return m.reMinting("The object of the replaced credential is being deleted: "+describe(old), old.DeletionTimestamp.Time)
}

// freshAnnotations are those of a credential that is made now.
func (m *manager) freshAnnotations() map[string]string {
	annotations := map[string]string{c5c3v1alpha1.AnnotationAdminPasswordHash: controlplane.Hash(m.adminPassword)}
	if request := m.credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		annotations[c5c3v1alpha1.AnnotationRotationRequest] = request
	}
	return annotations
}

// keptAnnotations are those the live credential has: they tell how it was made,
// and what was asked for since. One that is not made yet will be made with the
// password of now.
func (m *manager) keptAnnotations(live *orcv1alpha1.ApplicationCredential) map[string]string {
	fresh := m.freshAnnotations()
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
func (m *manager) whyReplace(live *orcv1alpha1.ApplicationCredential) string {
	wanted := applicationCredential(m.cp, keystoneName(live), nil)
	if !equality.Semantic.DeepEqual(live.Spec.Resource, wanted.Spec.Resource) {
		return "the spec asks for other rights"
	}
	if live.Status.ID == nil {
		return ""
	}
	hash, stamped := live.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	mode := m.cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	// A pass that ran at the same time may have written the hash anew.
	request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	unanswered := request != "" && request != m.credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	switch {
	case stamped && hash == "", unanswered:
		return "it was requested"
	case stamped && mode == c5c3v1alpha1.RotationPasswordDriven && hash != controlplane.Hash(m.adminPassword):
		return "the administrator's password has changed"
	case stateOf(live).failed:
		return "K-ORC has lost the old one: " + describe(live)
	case m.isRejected(live):
		return "Keystone refuses the old one"
	}
	return ""
}

// replace begins a replacement by a single write: a new secret. The clouds.yaml
// beside it stays that of the old credential.
func (m *manager) replace(ctx context.Context, live *orcv1alpha1.ApplicationCredential, why string) reconcile.Outcome {
	if request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		metav1.SetMetaDataAnnotation(&m.credential.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, request)
	}
	metav1.SetMetaDataAnnotation(&m.credential.ObjectMeta, c5c3v1alpha1.AnnotationReplacedSince, m.now().UTC().Format(time.RFC3339))
	m.credential.Data = map[string][]byte{keyValue: newSecretValue(), clouds.Key: m.credential.Data[clouds.Key]}
	if err := m.client.Update(ctx, m.credential); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, fmt.Errorf("storing a new secret for the application credential: %w", err))
	}
	return m.reMinting("A new application credential is being created because "+why, m.now())
}

// replacedSince is when the replacement began. The condition may have been False
// before, for another reason.
func (m *manager) replacedSince() time.Time {
	since := m.failingSince(c5c3v1alpha1.ConditionKORCReady)
	began, err := time.Parse(time.RFC3339, m.credential.Annotations[c5c3v1alpha1.AnnotationReplacedSince])
	if err == nil && began.After(since) && began.Before(m.now()) {
		return began
	}
	return since
}

// isInUse reports whether the users have the credential, or are about to get it.
func (m *manager) isInUse(ctx context.Context, credential *orcv1alpha1.ApplicationCredential) (bool, error) {
	if credential.Status.ID == nil {
		return false, nil
	}
	delivered, err := m.deliveredClouds(ctx)
	if err != nil {
		return false, err
	}
	for _, text := range [][]byte{m.credential.Data[clouds.Key], delivered} {
		if id, _ := clouds.CredentialIn(text); id == *credential.Status.ID {
			return true, nil
		}
	}
	return false, nil
}

// reMinting reports a step of a replacement that began at the given time.
func (m *manager) reMinting(message string, since time.Time) reconcile.Outcome {
	if passed := m.now().Sub(since); passed >= m.stallTimeout {
		return reconcile.Waiting(c5c3v1alpha1.ReasonReMintStalled, fmt.Sprintf(
			"%s, for more than %s; repair K-ORC or its connection to Keystone; the users keep the old credential",
			message, m.stallTimeout)).After(m.soon())
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonReMinting, message).After(m.soon())
}

// soon is when to look again at something that no watch tells about.
func (m *manager) soon() time.Duration {
	m.lookAgain(min(m.stallTimeout/2, time.Minute))
	return m.again
}

// mint keeps the credential with the current secret and reports how far it is.
func (m *manager) mint(ctx context.Context, annotations map[string]string) reconcile.Outcome {
	credential := applicationCredential(m.cp, credentialName(m.cp, string(m.credential.Data[keyValue])), annotations)
	since := m.failingSince(c5c3v1alpha1.ConditionKORCReady)
	if err := apply.EnsureObject(ctx, m.foreign, m.scheme, m.cp, credential, fieldManager); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	m.applicationCredential = credential
	state := stateOf(credential)
	switch {
	case state.failed && credential.Status.ID == nil:
		return m.mintAgain(ctx, credential, since)
	case !state.available || credential.Status.ID == nil:
		return m.waitForMint(ctx, credential)
	}
	m.reportCredential(credential)
	return m.reportSuperseded(ctx)
}

// waitForMint words the wait for K-ORC by what keeps it waiting.
func (m *manager) waitForMint(ctx context.Context, credential *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	parts := []string{"Waiting for " + describe(credential)}
	if imports := m.waitingImports(); imports != "" {
		parts = append(parts, "it needs "+imports)
	}
	missing, err := m.explainMissingClouds(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	if missing != "" {
		parts = append(parts, missing)
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForApplicationCredential, strings.Join(parts, "; ")).After(m.again)
}

// mintAgain has K-ORC try once more what it has given up.
func (m *manager) mintAgain(ctx context.Context, credential *orcv1alpha1.ApplicationCredential, since time.Time) reconcile.Outcome {
	wait := m.retryAfter(stateOf(credential).since, since)
	if wait == 0 {
		// K-ORC looks for a credential of that name, should it have been made.
		if err := m.remove(ctx, credential); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
		}
		wait = m.retryPeriod
	}
	message := "K-ORC has given up: " + describe(credential)
	if imports := m.waitingImports(); imports != "" {
		message += "; it needs " + imports
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonApplicationCredentialFailed, message+"; "+korcRemedy).After(wait)
}

// reportCredential shows the credential in the status.
func (m *manager) reportCredential(credential *orcv1alpha1.ApplicationCredential) {
	status := &c5c3v1alpha1.AdminApplicationCredentialStatus{
		ID: *credential.Status.ID, Restricted: !ptr.Deref(credential.Spec.Resource.Unrestricted, false),
	}
	if credential.Status.Resource != nil {
		status.Restricted = !credential.Status.Resource.Unrestricted
	}
	if known := m.cp.Status.AdminApplicationCredential; known != nil && known.ID == status.ID && known.LastRotation != nil {
		status.LastRotation = known.LastRotation
	} else {
		status.LastRotation = ptr.To(metav1.NewTime(m.now()).Rfc3339Copy())
	}
	m.cp.Status.AdminApplicationCredential = status
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
func (m *manager) reportSuperseded(ctx context.Context) reconcile.Outcome {
	superseded, err := m.supersededCredentials(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	for _, old := range superseded {
		since, overdue := m.overdueSince(old)
		if !overdue {
			continue
		}
		m.lookAgain(min(m.stallTimeout/2, time.Minute))
		if m.now().Sub(since) >= m.stallTimeout {
			return reconcile.Waiting(c5c3v1alpha1.ReasonReMintStalled, m.explainOverdue(old)).After(m.again).Proceed()
		}
	}
	message := "The administrator has the application credential " + *m.applicationCredential.Status.ID
	unscheduled, err := m.lacksSchedule(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	if unscheduled {
		message += "; create a CredentialRotation with intervalDays: though the rotation mode is Scheduled, nothing replaces it"
	}
	done := reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, message)
	if m.again > 0 {
		return done.After(m.again)
	}
	return done
}

// lacksSchedule reports whether a schedule is to replace the credential and there is
// none.
func (m *manager) lacksSchedule(ctx context.Context) (bool, error) {
	if m.cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode != c5c3v1alpha1.RotationScheduled {
		return false, nil
	}
	var rotations c5c3v1alpha1.CredentialRotationList
	if err := m.client.List(ctx, &rotations, client.InNamespace(m.cp.Namespace)); err != nil {
		return false, fmt.Errorf("listing the CredentialRotations of the namespace: %w", err)
	}
	return !slices.ContainsFunc(rotations.Items, func(r c5c3v1alpha1.CredentialRotation) bool {
		return r.DeletionTimestamp.IsZero() && r.Spec.HasSchedule()
	}), nil
}

func (m *manager) explainOverdue(old *orcv1alpha1.ApplicationCredential) string {
	if !old.DeletionTimestamp.IsZero() {
		return fmt.Sprintf("K-ORC has not released a replaced credential: %s; repair K-ORC or its connection to Keystone", describe(old))
	}
	return fmt.Sprintf("The replaced credential is still valid: %s; repair the operator's connection to %s, "+
		"or the administrator's password in Secret %s", describe(old), authURL(m.cp), m.cp.AdminSecretRef().Name)
}
