package keysecret

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
)

const (
	// StoreTimeout bounds each of the two waits for External Secrets during
	// deletion: until it has adopted a PushSecret, and until it has removed the copy.
	StoreTimeout = 10 * time.Minute
	// deletionPeriod is the requeue interval of a waiting deletion. No watch reports a
	// timeout.
	deletionPeriod = time.Minute
)

// Finalize removes the keys together with the database that they decrypt: first the copies in
// the store, for each step of which it has that much patience, then the Secrets. A Secret of a
// former resource can then only exist if a backup tool has restored it.
func Finalize(ctx context.Context, p *service.Pass, patience time.Duration, all ...Keys) reconcile.Outcome {
	keep, err := database.KeepsData(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonOpenBaoFinalizerBlocked, err)
	}
	if keep {
		return reportKept(ctx, p, all)
	}
	plan, err := releaseCopies(ctx, p, patience, all)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonOpenBaoFinalizerBlocked, err)
	}
	if !plan.waits() {
		err = removeKeys(ctx, p, all)
	}
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonOpenBaoFinalizerBlocked, err)
	}
	if !p.Kinds.Served(secrets.PushSecretGVK) {
		return reconcile.Done(vocabulary.ReasonDeleting, "There is no PushSecret to remove").
			WithNormalEvent(vocabulary.EventOpenBaoSecretsFinalized, "External Secrets is not installed: there is no PushSecret to remove")
	}
	return plan.outcome()
}

func removeKeys(ctx context.Context, p *service.Pass, all []Keys) error {
	for _, backup := range all {
		// The cache does not show a Secret that has lost its labels.
		secret, err := p.Owned.FindUncached(ctx, p.Key(backup.Of(p)))
		if err != nil {
			return err
		}
		// Keys that were never claimed may be those of another database.
		if secret == nil || !service.Claims(p, secret) || !secret.DeletionTimestamp.IsZero() {
			continue
		}
		if err := apply.Delete(ctx, p.Client, secret); err != nil {
			return err
		}
	}
	return nil
}

// reportKept orphans the keys and their copies, and reports which.
func reportKept(ctx context.Context, p *service.Pass, all []Keys) reconcile.Outcome {
	found, err := keepKeys(ctx, p, all)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonOpenBaoFinalizerBlocked, err)
	case !found:
		return reconcile.Done(vocabulary.ReasonDeleting, "There are no keys to keep")
	}
	kept := fmt.Sprintf("The database stays, and with it %s and every copy in the secret store", named(p, all))
	return reconcile.Done(vocabulary.ReasonDeleting, kept).WithNormalEvent(vocabulary.EventKeysKept, kept)
}

// keepKeys orphans the keys and their copies, and reports whether there are any. Keys have
// no controller, unless the resource was never reconciled since an earlier version.
func keepKeys(ctx context.Context, p *service.Pass, all []Keys) (found bool, err error) {
	for _, backup := range all {
		exists, err := backup.keep(ctx, p)
		if err != nil {
			return false, err
		}
		found = found || exists
	}
	return found, nil
}

// keep reports whether the key Secret exists.
func (k Keys) keep(ctx context.Context, p *service.Pass) (bool, error) {
	if err := k.keepCopy(ctx, p); err != nil {
		return false, err
	}
	secret, err := p.Owned.Find(ctx, p.Key(k.Of(p)))
	if err != nil || secret == nil || !metav1.IsControlledBy(secret, p.Resource) || !secret.DeletionTimestamp.IsZero() {
		return secret != nil && service.Claims(p, secret), err
	}
	_, err = p.Owned.Claim(ctx, p.Resource, secret, secret, service.Irreplaceable(p, secret.Name), nil)
	return true, err
}

// keepCopy removes the PushSecret and leaves the copy in the store. If the PushSecret is
// already being deleted, for instance together with its namespace, what External Secrets has
// not removed yet stays.
func (k Keys) keepCopy(ctx context.Context, p *service.Pass) error {
	if !p.Kinds.Served(secrets.PushSecretGVK) {
		return nil
	}
	push, err := FindPush(ctx, p, k.backup(p))
	if err != nil || push == nil {
		return err
	}
	if secrets.Adopted(push) || push.Spec.DeletionPolicy != esov1alpha1.PushSecretDeletionPolicyNone {
		if err := secrets.Abandon(ctx, p.ThirdParty, push); err != nil {
			return err
		}
	}
	if !push.DeletionTimestamp.IsZero() {
		return nil
	}
	return apply.Delete(ctx, p.ThirdParty, push)
}

// releaseCopies has External Secrets remove the copies of the keys from the store. A
// PushSecret is deleted only after External Secrets has adopted it, because otherwise its
// copy would stay. What External Secrets does not finish in time is reported and left to
// it: a PushSecret under deletion keeps its own finalizer and removes its copy as soon as
// the store answers, even if the resource is gone.
func releaseCopies(ctx context.Context, p *service.Pass, patience time.Duration, all []Keys) (releasePlan, error) {
	if !p.Kinds.Served(secrets.PushSecretGVK) {
		return releasePlan{}, nil
	}
	backups, err := findPushes(ctx, p, all)
	if err == nil {
		backups, err = abandonPushes(ctx, p, patience, backups)
	}
	if err != nil {
		return releasePlan{}, err
	}
	plan := planRelease(backups, p.Resource.GetDeletionTimestamp().Time, time.Now(), patience)
	for _, push := range plan.remove {
		if err := apply.Delete(ctx, p.ThirdParty, push); err != nil {
			return releasePlan{}, err
		}
	}
	return plan, nil
}

// abandonPushes abandons those that would hold a namespace that is being deleted, and returns
// the others.
func abandonPushes(
	ctx context.Context, p *service.Pass, patience time.Duration, backups []*esov1alpha1.PushSecret,
) ([]*esov1alpha1.PushSecret, error) {
	var others []*esov1alpha1.PushSecret
	for _, push := range backups {
		overdue := !push.DeletionTimestamp.IsZero() && time.Since(push.DeletionTimestamp.Time) >= patience
		abandoned, err := secrets.AbandonInNamespace(ctx, p.ThirdParty, push, overdue)
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
func findPushes(ctx context.Context, p *service.Pass, all []Keys) ([]*esov1alpha1.PushSecret, error) {
	var found []*esov1alpha1.PushSecret
	for _, backup := range all {
		live, err := FindPush(ctx, p, backup.backup(p))
		if err != nil {
			return nil, err
		}
		if live != nil {
			found = append(found, live)
		}
	}
	return found, nil
}

// releasePlan says which PushSecrets of a deleted resource to remove, and what the
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
// continues where the last one stopped. deleted is when the deletion of the resource
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

// waits reports whether the deletion of the resource has to wait.
func (p releasePlan) waits() bool { return p.adopting || len(p.blocking) > 0 }

// outcome reports what the deletion waits for, or how it ended.
func (p releasePlan) outcome() reconcile.Outcome {
	unadopted := strings.Join(p.unadopted, ", ")
	if p.adopting {
		return p.waiting(vocabulary.ReasonWaitingForESOAdoption, fmt.Sprintf(
			"External Secrets has not picked up PushSecret %s, so deleting it would leave keys in the store; "+
				"start the controller of External Secrets; deletion continues without it after %s", unadopted, p.patience))
	}
	abandoned := fmt.Sprintf("External Secrets has not picked up PushSecret %s within %s; "+
		"delete the keys in the secret store by hand if there are any", unadopted, p.patience)
	if p.waits() {
		blocked := p.waiting(vocabulary.ReasonOpenBaoFinalizerBlocked, fmt.Sprintf(
			"External Secrets has not removed the keys from the secret store yet: %s; if this persists, repair ClusterSecretStore %s "+
				"or the backend behind it; deletion continues without it after %s", strings.Join(p.blocking, "; "), secrets.StoreName, p.patience)).
			OnTransition(corev1.EventTypeNormal, vocabulary.EventFinalizingOpenBaoSecrets,
				"Removing the copies of the keys from the secret store")
		if len(p.unadopted) > 0 {
			blocked = blocked.OnTransition(corev1.EventTypeWarning, vocabulary.EventESOAdoptionTimedOut, abandoned)
		}
		return blocked
	}
	done := reconcile.Done(vocabulary.ReasonDeleting, "The copies of the keys in the secret store are released")
	if len(p.unadopted) > 0 {
		done = done.WithEvent(corev1.EventTypeWarning, vocabulary.EventESOAdoptionTimedOut, abandoned)
	}
	if len(p.late) > 0 {
		return done.WithEvent(corev1.EventTypeWarning, vocabulary.EventOpenBaoFinalizerTimedOut, fmt.Sprintf(
			"The keys are still in the secret store after %s: %s; External Secrets removes them, and then the PushSecret, once the store answers",
			p.patience, strings.Join(p.late, "; ")))
	}
	return done.WithNormalEvent(vocabulary.EventOpenBaoSecretsFinalized, "No PushSecret holds a copy of the keys any more")
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
