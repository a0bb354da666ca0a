package keys

import (
	"context"
	"fmt"
	"strings"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/pushsecret"
)

// Finalizer protects the copies of the keys in the secret store.
const Finalizer = "keystone.openstack.c5c3.io/openbao-finalizer"

const (
	// DefaultStoreTimeout bounds each of the two waits for External Secrets during
	// deletion: until it has adopted a PushSecret, and until it has removed the copy.
	DefaultStoreTimeout = 10 * time.Minute
	// deletionPeriod is the requeue interval of a waiting deletion. No watch reports a
	// timeout.
	deletionPeriod = time.Minute
)

// Finalize removes the keys together with the database that they decrypt: first the
// copies in the store, then the Secrets. A Secret of a former Keystone can then only exist
// if a backup tool has restored it.
func Finalize(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	keep, err := database.KeepsData(ctx, s.Pass)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonOpenBaoFinalizerBlocked, err)
	}
	if keep {
		return reportKept(ctx, s)
	}
	plan, err := releaseCopies(ctx, s)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonOpenBaoFinalizerBlocked, err)
	}
	if !plan.waits() {
		err = removeKeys(ctx, s)
	}
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonOpenBaoFinalizerBlocked, err)
	}
	if !s.Kinds.Served(secrets.PushSecretGVK) {
		return reconcile.Done(vocabulary.ReasonDeleting, "There is no PushSecret to remove").
			WithNormalEvent(keystonev1alpha1.EventOpenBaoSecretsFinalized, "External Secrets is not installed: there is no PushSecret to remove")
	}
	return plan.outcome()
}

func removeKeys(ctx context.Context, s *pass.Scope) error {
	for _, backup := range keyBackups {
		// The cache does not show a Secret that has lost its labels.
		secret, err := s.Owned.FindUncached(ctx, s.Key(backup.source(s.Resource)))
		if err != nil {
			return err
		}
		// Keys that were never claimed may be those of another database.
		if secret == nil || !service.Claims(s.Pass, secret) || !secret.DeletionTimestamp.IsZero() {
			continue
		}
		if err := apply.Delete(ctx, s.Client, secret); err != nil {
			return err
		}
	}
	return nil
}

// reportKept orphans the keys and their copies, and reports which.
func reportKept(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	found, err := keepKeys(ctx, s)
	switch {
	case err != nil:
		return reconcile.Failed(keystonev1alpha1.ReasonOpenBaoFinalizerBlocked, err)
	case !found:
		return reconcile.Done(vocabulary.ReasonDeleting, "There are no keys to keep")
	}
	kept := fmt.Sprintf("The database stays, and with it Secrets %s and %s and their copies in the secret store",
		pass.FernetKeysName(s.Resource), pass.CredentialKeysName(s.Resource))
	return reconcile.Done(vocabulary.ReasonDeleting, kept).WithNormalEvent(keystonev1alpha1.EventKeysKept, kept)
}

// keepKeys orphans the keys and their copies, and reports whether there are any. Keys have
// no controller, unless the Keystone was never reconciled since an earlier version.
func keepKeys(ctx context.Context, s *pass.Scope) (found bool, err error) {
	for _, backup := range keyBackups {
		exists, err := keepKey(ctx, s, backup)
		if err != nil {
			return false, err
		}
		found = found || exists
	}
	return found, nil
}

// keepKey reports whether the key Secret exists.
func keepKey(ctx context.Context, s *pass.Scope, backup keyBackup) (bool, error) {
	if err := keepCopy(ctx, s, backup); err != nil {
		return false, err
	}
	secret, err := s.Owned.Find(ctx, s.Key(backup.source(s.Resource)))
	if err != nil || secret == nil || !metav1.IsControlledBy(secret, s.Resource) || !secret.DeletionTimestamp.IsZero() {
		return secret != nil && service.Claims(s.Pass, secret), err
	}
	_, err = s.Owned.Claim(ctx, s.Resource, secret, secret, service.Irreplaceable(s.Pass, secret.Name), nil)
	return true, err
}

// keepCopy removes the PushSecret and leaves the copy in the store. If the PushSecret is
// already being deleted, for instance together with its namespace, what External Secrets has
// not removed yet stays.
func keepCopy(ctx context.Context, s *pass.Scope, backup keyBackup) error {
	if !s.Kinds.Served(secrets.PushSecretGVK) {
		return nil
	}
	push, err := pushsecret.Find(ctx, s, backup.name(s.Resource))
	if err != nil || push == nil {
		return err
	}
	if secrets.Adopted(push) || push.Spec.DeletionPolicy != esov1alpha1.PushSecretDeletionPolicyNone {
		if err := secrets.Abandon(ctx, s.ThirdParty, push); err != nil {
			return err
		}
	}
	if !push.DeletionTimestamp.IsZero() {
		return nil
	}
	return apply.Delete(ctx, s.ThirdParty, push)
}

// releaseCopies has External Secrets remove the copies of the keys from the store. A
// PushSecret is deleted only after External Secrets has adopted it, because otherwise its
// copy would stay. What External Secrets does not finish in time is reported and left to
// it: a PushSecret under deletion keeps its own finalizer and removes its copy as soon as
// the store answers, even if the Keystone is gone.
func releaseCopies(ctx context.Context, s *pass.Scope) (releasePlan, error) {
	if !s.Kinds.Served(secrets.PushSecretGVK) {
		return releasePlan{}, nil
	}
	backups, err := findPushes(ctx, s)
	if err == nil {
		backups, err = abandonPushes(ctx, s, backups)
	}
	if err != nil {
		return releasePlan{}, err
	}
	plan := planRelease(backups, s.Resource.DeletionTimestamp.Time, time.Now(), s.Own.SecretStoreTimeout)
	for _, push := range plan.remove {
		if err := apply.Delete(ctx, s.ThirdParty, push); err != nil {
			return releasePlan{}, err
		}
	}
	return plan, nil
}

// abandonPushes abandons those that would hold a namespace that is being deleted, and returns
// the others.
func abandonPushes(ctx context.Context, s *pass.Scope, backups []*esov1alpha1.PushSecret) ([]*esov1alpha1.PushSecret, error) {
	var others []*esov1alpha1.PushSecret
	for _, push := range backups {
		overdue := !push.DeletionTimestamp.IsZero() && time.Since(push.DeletionTimestamp.Time) >= s.Own.SecretStoreTimeout
		abandoned, err := secrets.AbandonInNamespace(ctx, s.ThirdParty, push, overdue)
		switch {
		case err != nil:
			return nil, err
		case !abandoned:
			others = append(others, push)
		}
	}
	return others, nil
}

// findPushes returns the PushSecrets of the keys.
func findPushes(ctx context.Context, s *pass.Scope) ([]*esov1alpha1.PushSecret, error) {
	var found []*esov1alpha1.PushSecret
	for _, backup := range keyBackups {
		live, err := pushsecret.Find(ctx, s, backup.name(s.Resource))
		if err != nil {
			return nil, err
		}
		if live != nil {
			found = append(found, live)
		}
	}
	return found, nil
}

// releasePlan says which PushSecrets of a deleted Keystone to remove, and what the
// deletion waits for.
type releasePlan struct {
	remove []*esov1alpha1.PushSecret
	// unadopted are those that External Secrets has not picked up, blocking those whose
	// copies it has not removed, and late those for which it has taken too long.
	unadopted, blocking, late []string
	// adopting is true while External Secrets has time left to pick up the unadopted ones.
	adopting bool
	// patience bounds each wait.
	patience time.Duration
}

// planRelease only uses times recorded in the objects, so that a restarted operator
// continues where the last one stopped. deleted is when the deletion of the Keystone
// began.
func planRelease(backups []*esov1alpha1.PushSecret, deleted, now time.Time, patience time.Duration) releasePlan {
	plan := releasePlan{patience: patience}
	for _, push := range backups {
		terminating := !push.DeletionTimestamp.IsZero()
		if !terminating {
			plan.remove = append(plan.remove, push)
		}
		switch {
		case !terminating && !secrets.Adopted(push):
			plan.unadopted = append(plan.unadopted, push.Name)
		case terminating && now.Sub(push.DeletionTimestamp.Time) >= patience:
			plan.late = append(plan.late, describePush(push))
		default:
			plan.blocking = append(plan.blocking, describePush(push))
		}
	}
	if len(plan.unadopted) > 0 && now.Sub(deleted) < patience {
		plan.adopting, plan.remove = true, nil
	}
	return plan
}

// waits reports whether the deletion of the Keystone has to wait.
func (p releasePlan) waits() bool { return p.adopting || len(p.blocking) > 0 }

// outcome reports what the deletion waits for, or how it ended.
func (p releasePlan) outcome() reconcile.Outcome {
	unadopted := strings.Join(p.unadopted, ", ")
	if p.adopting {
		return p.waiting(keystonev1alpha1.ReasonWaitingForESOAdoption, fmt.Sprintf(
			"External Secrets has not picked up PushSecret %s, so deleting it would leave keys in the store; "+
				"start the controller of External Secrets; deletion continues without it after %s", unadopted, p.patience))
	}
	abandoned := fmt.Sprintf("External Secrets has not picked up PushSecret %s within %s; "+
		"delete the keys in the secret store by hand if there are any", unadopted, p.patience)
	if p.waits() {
		blocked := p.waiting(keystonev1alpha1.ReasonOpenBaoFinalizerBlocked, fmt.Sprintf(
			"External Secrets has not removed the keys from the secret store yet: %s; if this persists, repair ClusterSecretStore %s "+
				"or the backend behind it; deletion continues without it after %s", strings.Join(p.blocking, "; "), secrets.StoreName, p.patience)).
			OnTransition(corev1.EventTypeNormal, keystonev1alpha1.EventFinalizingOpenBaoSecrets,
				"Removing the copies of the keys from the secret store")
		if len(p.unadopted) > 0 {
			blocked = blocked.OnTransition(corev1.EventTypeWarning, keystonev1alpha1.EventESOAdoptionTimedOut, abandoned)
		}
		return blocked
	}
	done := reconcile.Done(vocabulary.ReasonDeleting, "The copies of the keys in the secret store are released")
	if len(p.unadopted) > 0 {
		done = done.WithEvent(corev1.EventTypeWarning, keystonev1alpha1.EventESOAdoptionTimedOut, abandoned)
	}
	if len(p.late) > 0 {
		return done.WithEvent(corev1.EventTypeWarning, keystonev1alpha1.EventOpenBaoFinalizerTimedOut, fmt.Sprintf(
			"The keys are still in the secret store after %s: %s; External Secrets removes them, and then the PushSecret, once the store answers",
			p.patience, strings.Join(p.late, "; ")))
	}
	return done.WithNormalEvent(keystonev1alpha1.EventOpenBaoSecretsFinalized, "No PushSecret holds a copy of the keys any more")
}

func (p releasePlan) waiting(reason, message string) reconcile.Outcome {
	return reconcile.Waiting(reason, message).After(min(deletionPeriod, p.patience))
}

// describePush includes the error that External Secrets reports for a PushSecret.
func describePush(push *esov1alpha1.PushSecret) string {
	state := secrets.PushStateOf(push)
	if !state.Failed() {
		return "PushSecret " + push.Name
	}
	return fmt.Sprintf("PushSecret %s (%s)", push.Name, state.Message)
}
