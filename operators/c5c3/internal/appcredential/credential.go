package appcredential

import (
	"context"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// How a credential is replaced. The name of a credential in Keystone is derived from its
// secret. A new secret in the Secret therefore requires a credential with another name,
// and the object with the old name is recognised as outdated in any pass and after any
// crash. First another object adopts the old credential, and the outdated object is
// deleted without it. Then the object is created again and K-ORC creates the new
// credential. The users keep the old one until they have the new one; only then is it
// revoked.

// keepCredential ensures the administrator's application credential, or takes the next
// step in replacing it. It returns an error until Keystone has the current one.
func (m *manager) keepCredential(ctx context.Context) error {
	live, err := apply.Find(ctx, m.ThirdParty, pass.Key(m.Pass, m.CP.ApplicationCredentialName()), &orcv1alpha1.ApplicationCredential{})
	switch {
	case err != nil:
		return err
	case live == nil:
		return m.mint(ctx, "", m.freshAnnotations())
	case !metav1.IsControlledBy(live, m.CP):
		// EnsureObject reports the owner.
		return m.mint(ctx, live.ResourceVersion, live.Annotations)
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
	return m.mint(ctx, live.ResourceVersion, m.keptAnnotations(live))
}

// awaitRemoval waits until the object of the replaced credential is gone.
func (m *manager) awaitRemoval(ctx context.Context, old *orcv1alpha1.ApplicationCredential) error {
	if err := korc.PrepareRemoval(ctx, m.Pass, old); err != nil {
		return err
	}
	return m.reMinting("The object of the replaced credential is being deleted: "+korc.Describe(old), old.DeletionTimestamp.Time)
}

// freshAnnotations returns the annotations of a new credential.
func (m *manager) freshAnnotations() map[string]string {
	annotations := map[string]string{c5c3v1alpha1.AnnotationAdminPasswordHash: controlplane.Hash(m.adminPassword)}
	if request := m.credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		annotations[c5c3v1alpha1.AnnotationRotationRequest] = request
	}
	return annotations
}

// keptAnnotations returns the annotations of the live credential: they record how it was
// created, and requests since then. A credential that does not exist in Keystone yet will
// be created with the current password.
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

// whyReplace returns why the credential must be replaced, "" if it is fine.
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
	// A concurrent pass may have written a new hash.
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

// replace starts a replacement with a single write: a new secret. The clouds.yaml in the
// same Secret remains that of the old credential.
func (m *manager) replace(ctx context.Context, live *orcv1alpha1.ApplicationCredential, why string) error {
	if request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		metav1.SetMetaDataAnnotation(&m.credential.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, request)
	}
	metav1.SetMetaDataAnnotation(&m.credential.ObjectMeta, c5c3v1alpha1.AnnotationReplacedSince, m.Now().UTC().Format(time.RFC3339))
	m.credential.Data = map[string][]byte{keyValue: identity.NewSecret(), clouds.Key: m.credential.Data[clouds.Key]}
	if err := apply.Update(ctx, m.Client, m.credential, "storing a new secret for the application credential in"); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonSecretError, err)
	}
	return m.reMinting("A new application credential is being created because "+why, m.Now())
}
