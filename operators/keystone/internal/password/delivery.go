package password

import (
	"bytes"
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/rotation"
	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

const (
	// deliveryTimeout is how long a new password may take from the CronJob to the
	// administrator's Secret before that counts as a failure.
	deliveryTimeout = 10 * time.Minute

	notBootstrappable = "it cannot be set in Keystone until bootstrap has succeeded; look at BootstrapReady and DatabaseReady"
)

// delivery is the delivery of the next password to the administrator's Secret.
type delivery struct {
	*pass.Scope
	next *corev1.Secret
	// target is the administrator's Secret, nil while it is missing.
	target *corev1.Secret
	// external is the ExternalSecret that writes target, nil if there is none.
	external *esov1.ExternalSecret
	// push is nil if External Secrets is not installed.
	push *esov1alpha1.PushSecret
}

// deliver delivers the next password to the administrator's Secret and returns the
// progress. The error is a refusalError if a user has to do something for that.
func deliver(ctx context.Context, s *pass.Scope) (stage, error) {
	d, err := newDelivery(ctx, s)
	if err != nil {
		return stage{}, err
	}
	if since, known := d.inUseSince(); known {
		s.Own.Lifetimes.Age.Set(client.ObjectKeyFromObject(s.Resource), keyType, since)
	}
	if d.next == nil {
		return d.configured("The next password is generated at " + s.Resource.Spec.Bootstrap.PasswordRotation.Schedule)
	}
	arrived := d.arrived()
	switch {
	case arrived && !d.delivered():
		if err := d.markDelivered(ctx); err != nil {
			return stage{}, err
		}
	case d.heldBack():
		return d.inTransit(notBootstrappable)
	case !arrived && !d.delivered():
		return d.forward(ctx)
	}
	if arrived && pass.PasswordRefused.Value(s.Slots) {
		return stage{}, d.refused()
	}
	if arrived && pass.BootstrapJob.Value(s.Slots) == nil {
		return rotated(fmt.Sprintf("Secret %s holds the new password, which is being set in Keystone", d.target.Name)), nil
	}
	return d.configured(fmt.Sprintf("The last password was generated at %s, the next one at %s",
		d.next.Annotations[rotation.CompletedAtAnnotation], s.Resource.Spec.Bootstrap.PasswordRotation.Schedule))
}

func rotated(message string) stage {
	return stage{reason: keystonev1alpha1.ReasonAdminPasswordRotated, message: message}
}

// newDelivery reads both ends of the delivery and ensures the PushSecret between them.
func newDelivery(ctx context.Context, s *pass.Scope) (*delivery, error) {
	d := &delivery{Scope: s}
	next, err := s.Owned.Find(ctx, s.Key(NextName(s.Resource)))
	if err != nil {
		return nil, err
	}
	d.target, err = apply.Find(ctx, s.Refs, s.Key(s.Resource.Spec.Bootstrap.AdminPasswordSecretRef.Name), &corev1.Secret{})
	if err != nil {
		return nil, err
	}
	if d.external, err = d.externalSecret(ctx); err != nil {
		return nil, err
	}
	if next == nil || len(next.Data[commonv1.PasswordKey]) == 0 {
		return d, nil
	}
	d.next = next
	if !s.Kinds.Served(secrets.PushSecretGVK) || d.heldBack() {
		return d, nil
	}
	d.push = newPush(s, next)
	return d, secrets.EnsurePushSecret(ctx, s.ThirdParty, s.Scheme, s.Resource, d.push, apply.FieldManager)
}

func (d *delivery) password() []byte { return d.next.Data[commonv1.PasswordKey] }

func (d *delivery) targetKey() string {
	return pass.AdminPasswordKey(d.Resource)
}

// arrived reports whether the administrator's Secret holds the next password.
func (d *delivery) arrived() bool {
	return d.target != nil && bytes.Equal(d.password(), d.target.Data[d.targetKey()])
}

// heldBack reports whether the next password must not be delivered, nor pushed to the
// store: Keystone cannot get it now, so everyone who reads the administrator's Secret
// would be rejected. If Keystone refuses what the Secret holds, they are rejected already,
// and only another password helps.
func (d *delivery) heldBack() bool {
	return !d.arrived() && !d.delivered() && pass.BootstrapJob.Value(d.Slots) == nil && !pass.PasswordRefused.Value(d.Slots)
}

func (d *delivery) delivered() bool {
	return d.next.Annotations[annotationDelivered] == d.next.Annotations[rotation.CompletedAtAnnotation]
}

func (d *delivery) markDelivered(ctx context.Context) error {
	changed := d.next.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, annotationDelivered, d.next.Annotations[rotation.CompletedAtAnnotation])
	return apply.Update(ctx, d.Client, changed, apply.Updating)
}

// inUseSince returns since when the password is in use, as far as that is known: since a
// rotation generated it, or since the Secret was created.
func (d *delivery) inUseSince() (time.Time, bool) {
	if d.next != nil && d.delivered() {
		if at, ok, err := rotation.CompletedAt(d.next); ok && err == nil {
			return at, true
		}
	}
	if d.target == nil {
		return time.Time{}, false
	}
	return d.target.CreationTimestamp.Time, true
}

// configured is the stage with nothing in transit; a copy in the store may still fail. A
// missing permission to deliver is reported before there is anything to deliver.
func (d *delivery) configured(message string) (stage, error) {
	if d.writes() && !d.mayWrite() {
		return stage{}, d.notAllowed()
	}
	if d.Resource.Spec.Bootstrap.PasswordRotation.Suspend {
		message += "; the schedule is suspended"
	}
	problem := d.pushProblem()
	if problem != "" {
		message += "; " + problem
	}
	return stage{reason: keystonev1alpha1.ReasonPasswordRotationConfigured, message: message, backupProblem: problem}, nil
}

// pushProblem returns why the store does not have the next password, "" if no problem is
// known.
func (d *delivery) pushProblem() string {
	if d.push == nil {
		return ""
	}
	state := secrets.PushStateOf(d.push)
	if !state.Failed() {
		return ""
	}
	return fmt.Sprintf("PushSecret %s cannot write to %s (%s); %s",
		d.push.Name, storePath(d.Cluster, d.Resource), state.Message, keysecret.Remedy)
}

// forward takes the next step of the delivery to the administrator's Secret.
func (d *delivery) forward(ctx context.Context) (stage, error) {
	switch owner := d.targetController(); {
	case d.external != nil:
		return d.throughStore(ctx, d.external)
	case d.target == nil:
		return d.inTransit("the Secret of spec.bootstrap.adminPasswordSecretRef does not exist")
	case owner != nil:
		return stage{}, d.notDelivered(fmt.Sprintf("Secret %s is controlled by %s %s, which does not read the store",
			d.target.Name, owner.Kind, owner.Name))
	case ptr.Deref(d.target.Immutable, false):
		return stage{}, d.notDelivered(fmt.Sprintf("Secret %s is immutable", d.target.Name))
	case !d.mayWrite():
		return stage{}, d.notAllowed()
	}
	return rotated(fmt.Sprintf("Secret %s received the new password", d.target.Name)), d.write(ctx)
}

// writes reports whether the operator itself must write a new password to the
// administrator's Secret.
func (d *delivery) writes() bool {
	return d.external == nil && d.target != nil && d.targetController() == nil && !ptr.Deref(d.target.Immutable, false)
}

// mayWrite reports whether the owner of the administrator's Secret allows the operator to
// write it. The spec alone must not be enough: it may name any Secret and any key of it.
func (d *delivery) mayWrite() bool {
	return d.target.Labels[commonv1.LabelAllowWrite] == commonv1.AllowWrite
}

func (d *delivery) notAllowed() error {
	label := commonv1.LabelAllowWrite + "=" + commonv1.AllowWrite
	return &refusalError{keystonev1alpha1.ReasonAdminPasswordWriteNotAllowed, fmt.Errorf(
		"the operator does not write the new password into Secret %s, which it did not create: allow that with "+
			"kubectl label secret %s %s, or have External Secrets deliver the password; the one in use stays valid until then",
		d.target.Name, d.target.Name, label)}
}

func (d *delivery) targetController() *metav1.OwnerReference {
	if d.target == nil {
		return nil
	}
	return metav1.GetControllerOf(d.target)
}

// externalSecret returns the ExternalSecret that writes the administrator's Secret: its
// controller, or else the one of the same name; nil if there is none.
func (d *delivery) externalSecret(ctx context.Context) (*esov1.ExternalSecret, error) {
	if !d.Kinds.Served(secrets.ExternalSecretGVK) {
		return nil, nil
	}
	name := d.Resource.Spec.Bootstrap.AdminPasswordSecretRef.Name
	if owner := d.targetController(); owner != nil && owner.Kind == esov1.ExtSecretKind {
		name = owner.Name
	}
	return apply.Find(ctx, d.ThirdParty, d.Key(name), &esov1.ExternalSecret{})
}

// throughStore has External Secrets read the store again once it has stored the password.
// Otherwise that would happen at its next refresh, hours later, and the store and
// Keystone would differ until then.
func (d *delivery) throughStore(ctx context.Context, external *esov1.ExternalSecret) (stage, error) {
	if problem := d.pushProblem(); problem != "" {
		return d.inTransit(problem)
	}
	if d.push == nil || !secrets.PushStateOf(d.push).Synced {
		return d.inTransit("External Secrets has not stored it yet")
	}
	// The time has no fractional seconds, and every password must trigger a refresh.
	pushedAt := d.push.Status.RefreshTime.UTC().Format(time.RFC3339) + "/" + d.next.ResourceVersion
	if external.Annotations[annotationPushedAt] != pushedAt {
		changed := external.DeepCopy()
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, annotationPushedAt, pushedAt)
		if err := apply.MergeUnlocked(ctx, d.ThirdParty, external, changed, "refreshing"); err != nil {
			return stage{}, err
		}
	}
	return d.inTransit(fmt.Sprintf("ExternalSecret %s has not delivered it yet; it has to read property %s of %s",
		external.Name, commonv1.PasswordKey, storePath(d.Cluster, d.Resource)))
}

// inTransit is the stage of a delivery that waits for the described event, or the refusal
// of one that takes too long. Until it arrives, Keystone and the administrator's Secret
// keep the previous password.
func (d *delivery) inTransit(waitsFor string) (stage, error) {
	at, _, err := rotation.CompletedAt(d.next)
	left := deliveryTimeout - d.Now().Sub(at)
	if err != nil || left <= 0 {
		return stage{}, d.notDelivered(waitsFor)
	}
	transit := rotated(fmt.Sprintf("A new password is being delivered to Secret %s: %s",
		d.Resource.Spec.Bootstrap.AdminPasswordSecretRef.Name, waitsFor))
	transit.again = min(left, deliveryTimeout)
	return transit, nil
}

// notDelivered reports what keeps the next password from the administrator's Secret. A
// user can copy it there, unless it cannot be set in Keystone either.
func (d *delivery) notDelivered(obstacle string) error {
	name := d.Resource.Spec.Bootstrap.AdminPasswordSecretRef.Name
	remedy := fmt.Sprintf("; or copy key %s of Secret %s there yourself", commonv1.PasswordKey, d.next.Name)
	if d.heldBack() {
		remedy = ""
	}
	return &refusalError{keystonev1alpha1.ReasonAdminPasswordNotDelivered, fmt.Errorf(
		"the new password does not reach Secret %s, so the previous one stays valid: %s%s", name, obstacle, remedy)}
}

// refused reports that Keystone does not accept the password that was delivered.
func (d *delivery) refused() error {
	return &refusalError{keystonev1alpha1.ReasonAdminPasswordRotationRejected, fmt.Errorf(
		"the rules of Keystone in [security_compliance] refuse the new password, which Secret %s holds, and keep the one before; "+
			"start a Job of CronJob %s, which makes one that fits them",
		d.target.Name, Rotator(d.Resource).ObjectName(d.Resource))}
}

// write writes the password to a Secret that no controller maintains. It is marked as
// delivered right away: if the write is reverted, that was a decision, and it is not
// repeated.
func (d *delivery) write(ctx context.Context) error {
	changed := d.target.DeepCopy()
	if changed.Data == nil {
		changed.Data = map[string][]byte{}
	}
	changed.Data[d.targetKey()] = bytes.Clone(d.password())
	// The third-party client does not wait for the cache, which does not hold foreign
	// Secrets.
	if err := apply.Merge(ctx, d.ThirdParty, d.target, changed, "writing the new password to"); err != nil {
		return err
	}
	return d.markDelivered(ctx)
}
