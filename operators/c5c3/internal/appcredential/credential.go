package appcredential

import (
	"context"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
)

// How a credential is replaced. The name of a credential in Keystone is derived
// from its secret. A new secret in the Secret therefore asks for a credential of
// another name, and the object that has the old one is seen to be outdated, in
// any pass and after any crash. Its credential is first taken over by an object
// of another name, and the object goes without it; then the object of the old
// name makes the new one. The users keep the old one until they have the new
// one, and then it is revoked.

// keepCredential keeps the administrator's application credential, or goes one
// step further in replacing it.
func (m *manager) keepCredential(ctx context.Context) reconcile.Outcome {
	live := &orcv1alpha1.ApplicationCredential{}
	err := m.Foreign.Get(ctx, m.Key(m.CP.ApplicationCredentialName()), live)
	switch {
	case apierrors.IsNotFound(err):
		return m.mint(ctx, m.freshAnnotations())
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, fmt.Errorf("reading the ApplicationCredential: %w", err))
	case !metav1.IsControlledBy(live, m.CP):
		// EnsureObject reports the owner.
		return m.mint(ctx, live.Annotations)
	case !live.DeletionTimestamp.IsZero():
		return m.awaitRemoval(ctx, live)
	}
	secret := string(m.credential.Data[keyValue])
	if keystoneName(live) != credentialName(m.CP, secret) {
		return m.supersede(ctx, live)
	}
	if why := m.whyReplace(live); why != "" {
		return m.replace(ctx, live, why)
	}
	return m.mint(ctx, m.keptAnnotations(live))
}

// awaitRemoval waits until the object of the replaced credential is gone.
func (m *manager) awaitRemoval(ctx context.Context, old *orcv1alpha1.ApplicationCredential) reconcile.Outcome {
	if err := korc.PrepareRemoval(ctx, m.Pass, old); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return m.reMinting("The object of the replaced credential is being deleted: "+korc.Describe(old), old.DeletionTimestamp.Time)
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
	wanted := applicationCredential(m.CP, keystoneName(live), nil)
	if !equality.Semantic.DeepEqual(live.Spec.Resource, wanted.Spec.Resource) {
		return "the spec asks for other rights"
	}
	if live.Status.ID == nil {
		return ""
	}
	hash, stamped := live.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	mode := m.CP.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	// A pass that ran at the same time may have written the hash anew.
	request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	unanswered := request != "" && request != m.credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	switch {
	case stamped && hash == "", unanswered:
		return "it was requested"
	case stamped && mode == c5c3v1alpha1.RotationPasswordDriven && hash != controlplane.Hash(m.adminPassword):
		return "the administrator's password has changed"
	case korc.StateOf(live).Failed:
		return "K-ORC has lost the old one: " + korc.Describe(live)
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
	metav1.SetMetaDataAnnotation(&m.credential.ObjectMeta, c5c3v1alpha1.AnnotationReplacedSince, m.Now().UTC().Format(time.RFC3339))
	m.credential.Data = map[string][]byte{keyValue: identity.NewSecret(), clouds.Key: m.credential.Data[clouds.Key]}
	if err := m.Client.Update(ctx, m.credential); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, fmt.Errorf("storing a new secret for the application credential: %w", err))
	}
	return m.reMinting("A new application credential is being created because "+why, m.Now())
}
