package appcredential

import (
	"context"
	"slices"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// creation makes K-ORC create the application credential with the secret in the Secret.
type creation struct {
	*secret
	imports    []korc.Object
	credential *orcv1alpha1.ApplicationCredential
}

// keepImports ensures the imports, and returns the requeue delay, zero to wait for a
// watch.
func (c *creation) keepImports(ctx context.Context) (again time.Duration, err error) {
	with := c.importCloud(ctx)
	imports := []korc.Object{DomainImport(c.CP, with), UserImport(c.CP, with)}
	if c.credentialNamesIdentityService() {
		imports = append(imports, korc.IdentityService(c.CP))
	}
	for _, obj := range imports {
		wait, err := korc.Ensure(ctx, c.Pass, obj, pass.FailingSince(c.Pass, c5c3v1alpha1.ConditionKORCReady))
		if err != nil {
			return 0, err
		}
		again = reconcile.Sooner(again, wait)
	}
	c.imports = imports
	return again, nil
}

// importCloud returns the cloud of the users as soon as they have it, unless access rules
// limit it, which Keystone applies to its own API. K-ORC keeps the Secret of a cloud that an
// object refers to, also one of somebody else with its name. That the Secret cannot be read
// is reported by the delivery.
func (c *creation) importCloud(ctx context.Context) orcv1alpha1.CloudCredentialsReference {
	text, err := c.secret.deliveredClouds(ctx)
	if err != nil || !clouds.HasCredential(text) || len(c.CP.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules) > 0 {
		return korc.AdminCloud(c.CP)
	}
	return korc.UserCloud(c.CP)
}

// credentialNamesIdentityService reports whether an access rule refers to Keystone
// itself: K-ORC then needs the Service of Keystone before it can create the credential.
func (c *creation) credentialNamesIdentityService() bool {
	rules := c.CP.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules
	return slices.ContainsFunc(rules, func(r c5c3v1alpha1.AccessRule) bool { return r.Service == c.CP.IdentityServiceName() })
}

// waitingImports describes the imports that are not available yet.
func (c *creation) waitingImports() string {
	var waiting []string
	for _, obj := range c.imports {
		if !korc.StateOf(obj).Available {
			waiting = append(waiting, korc.Describe(obj))
		}
	}
	return strings.Join(waiting, ", ")
}

// keepCredential ensures the administrator's application credential, or takes the next
// step in replacing it. It returns an error until Keystone has the current one.
func (c *creation) keepCredential(ctx context.Context) error {
	live, err := apply.Find(ctx, c.ThirdParty, pass.Key(c.Pass, c.CP.ApplicationCredentialName()), &orcv1alpha1.ApplicationCredential{})
	r := &replacement{c.secret}
	switch {
	case err != nil:
		return err
	case live == nil:
		return c.ensure(ctx, "", c.freshAnnotations())
	case !metav1.IsControlledBy(live, c.CP):
		// EnsureObject reports the owner.
		return c.ensure(ctx, live.ResourceVersion, live.Annotations)
	case !live.DeletionTimestamp.IsZero():
		return r.awaitRemoval(ctx, live)
	}
	secret := string(c.secret.object.Data[keyValue])
	if keystoneName(live) != credentialName(c.CP, secret) {
		return r.supersede(ctx, live)
	}
	if why := c.whyReplace(live); why != "" {
		return r.replace(ctx, live, why)
	}
	return c.ensure(ctx, live.ResourceVersion, c.keptAnnotations(live))
}

// freshAnnotations returns the annotations of a new credential.
func (c *creation) freshAnnotations() map[string]string {
	annotations := map[string]string{c5c3v1alpha1.AnnotationAdminPasswordHash: controlplane.Hash(c.secret.adminPassword)}
	if request := c.secret.object.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		annotations[c5c3v1alpha1.AnnotationRotationRequest] = request
	}
	return annotations
}

// keptAnnotations returns the annotations of the live credential: they record how it was
// created, and requests since then. A credential that does not exist in Keystone yet will
// be created with the current password.
func (c *creation) keptAnnotations(live *orcv1alpha1.ApplicationCredential) map[string]string {
	fresh := c.freshAnnotations()
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
func (c *creation) whyReplace(live *orcv1alpha1.ApplicationCredential) string {
	wanted := applicationCredential(c.CP, keystoneName(live), nil)
	if !equality.Semantic.DeepEqual(live.Spec.Resource, wanted.Spec.Resource) {
		return "the spec asks for other rights"
	}
	if live.Status.ID == nil {
		return ""
	}
	hash, stamped := live.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	mode := c.CP.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode
	// A concurrent pass may have written a new hash.
	request := live.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	unanswered := request != "" && request != c.secret.object.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	switch {
	case stamped && hash == "", unanswered:
		return "it was requested"
	case stamped && mode == c5c3v1alpha1.RotationPasswordDriven && hash != controlplane.Hash(c.secret.adminPassword):
		return "the administrator's password has changed"
	case korc.StateOf(live).Failed:
		return "K-ORC has lost the old one: " + korc.Describe(live)
	case c.isRejected(live):
		return "Keystone refuses the old one"
	}
	return ""
}

// isRejected reports whether Keystone has rejected the credential for a while.
func (c *creation) isRejected(live *orcv1alpha1.ApplicationCredential) bool {
	return pass.IsRefused(c.Pass, c5c3v1alpha1.ConditionAdminCredentialReady, live.CreationTimestamp.Time,
		*live.Status.ID, string(c.secret.object.Data[keyValue]))
}

// ensure ensures the credential with the current secret. It returns an error until Keystone
// has it. The annotations come from that version of the object, "" if there is none: a
// request that was written since then stays, and the next pass acts on it.
func (c *creation) ensure(ctx context.Context, version string, annotations map[string]string) error {
	credential := applicationCredential(c.CP, credentialName(c.CP, string(c.secret.object.Data[keyValue])), annotations)
	credential.ResourceVersion = version
	since := pass.FailingSince(c.Pass, c5c3v1alpha1.ConditionKORCReady)
	if err := apply.EnsureObject(ctx, c.ThirdParty, c.Scheme, c.CP, credential, pass.FieldManager); err != nil {
		return err
	}
	c.credential = credential
	state := korc.StateOf(credential)
	switch {
	case state.Failed && credential.Status.ID == nil:
		return c.createAgain(ctx, credential, since)
	case !state.Available || credential.Status.ID == nil:
		return c.awaitCreation(credential)
	}
	c.reportCredential(credential)
	return nil
}

// awaitCreation returns what K-ORC is waiting for.
func (c *creation) awaitCreation(credential *orcv1alpha1.ApplicationCredential) error {
	parts := []string{"Waiting for " + korc.Describe(credential)}
	if imports := c.waitingImports(); imports != "" {
		parts = append(parts, "it needs "+imports)
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForApplicationCredential, strings.Join(parts, "; "))
}

// createAgain makes K-ORC retry after a terminal error, which it returns.
func (c *creation) createAgain(ctx context.Context, credential *orcv1alpha1.ApplicationCredential, since time.Time) error {
	wait := pass.RetryAfter(c.Pass, korc.StateOf(credential).Since, since)
	if wait == 0 {
		// If the credential was created after all, K-ORC finds it by its name.
		if err := korc.Remove(ctx, c.Pass, credential); err != nil {
			return err
		}
		wait = c.RetryPeriod
	}
	message := "K-ORC has given up: " + korc.Describe(credential)
	if imports := c.waitingImports(); imports != "" {
		message += "; it needs " + imports
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonApplicationCredentialFailed, message+"; "+korc.Remedy).After(wait)
}

// reportCredential records the credential in the status.
func (c *creation) reportCredential(credential *orcv1alpha1.ApplicationCredential) {
	status := &c5c3v1alpha1.AdminApplicationCredentialStatus{
		ID: *credential.Status.ID, Restricted: !ptr.Deref(credential.Spec.Resource.Unrestricted, false),
	}
	if credential.Status.Resource != nil {
		status.Restricted = !credential.Status.Resource.Unrestricted
	}
	if known := c.CP.Status.AdminApplicationCredential; known != nil && known.ID == status.ID && known.LastRotation != nil {
		status.LastRotation = known.LastRotation
	} else {
		status.LastRotation = ptr.To(metav1.NewTime(c.Now()).Rfc3339Copy())
	}
	c.CP.Status.AdminApplicationCredential = status
}
