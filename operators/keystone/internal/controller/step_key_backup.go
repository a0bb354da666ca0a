package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/keys"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileKeyBackup has External Secrets keep copies of both key families in
// the secret store. It informs only: a Keystone whose backup fails serves as
// before, and External Secrets goes on trying.
func reconcileKeyBackup(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	if !s.kinds.Served(pushSecretGVK) {
		return reconcile.Done(keystonev1alpha1.ReasonBackupNotConfigured, fmt.Sprintf(
			"External Secrets is not installed, so nothing copies Secrets %s and %s out of the cluster; keep a copy yourself",
			fernetKeysName(k), credentialKeysName(k)))
	}
	report := backupReport{}
	for _, backup := range keyBackups {
		state, err := s.ensureBackup(ctx, backup)
		switch {
		case errors.Is(err, apply.ErrPredecessor):
			report.predecessor = true
		case errors.Is(err, apply.ErrNotOwned):
			report.obstructed = true
			report.failing = append(report.failing, err.Error())
		case err != nil:
			return reconcile.Failed(keystonev1alpha1.ReasonBackupFailing, err)
		case state.Failed():
			report.failing = append(report.failing, fmt.Sprintf("PushSecret %s cannot write to %s (%s)",
				backup.name(k), backup.path(k), state.Message))
		case !state.Synced:
			report.pending = true
		}
	}
	return report.outcome(k)
}

// ensureBackup keeps the PushSecret of one key Secret. While the Secret is
// missing or damaged the PushSecret stays as it is, and with it the copy, which
// is what the keys are restored from.
func (s *scope) ensureBackup(ctx context.Context, backup keyBackup) (secrets.PushState, error) {
	source, err := s.owned.Find(ctx, s.key(backup.source(s.keystone)))
	if err != nil {
		return secrets.PushState{}, err
	}
	if source == nil || keys.ValidateInUse(source.Data) != nil {
		live, err := s.findPush(ctx, backup.name(s.keystone))
		if err != nil || live == nil {
			return secrets.PushState{}, err
		}
		return secrets.PushStateOf(live), nil
	}
	push := backup.push(s.keystone, source)
	if err := secrets.EnsurePushSecret(ctx, s.foreign, s.scheme, s.keystone, push, apply.FieldManager); err != nil {
		return secrets.PushState{}, err
	}
	return secrets.PushStateOf(push), nil
}

// backupReport is what a pass found out about all backups.
type backupReport struct {
	failing []string
	// pending is true when External Secrets has not stored all keys yet.
	pending bool
	// predecessor is true while the copy of a deleted Keystone is being removed.
	predecessor bool
	// obstructed is true when somebody else has an object of a needed name.
	obstructed bool
}

func (r backupReport) outcome(k *keystonev1alpha1.Keystone) reconcile.Outcome {
	switch {
	case len(r.failing) > 0:
		message := fmt.Sprintf("The keys are not backed up: %s; %s", strings.Join(r.failing, "; "), pushRemedy)
		failing := reconcile.Degraded(keystonev1alpha1.ReasonBackupFailing, message).
			OnTransition(corev1.EventTypeWarning, keystonev1alpha1.EventBackupFailing, message)
		if r.obstructed {
			return failing.After(obstructionPeriod)
		}
		return failing
	case r.predecessor:
		return reconcile.Degraded(keystonev1alpha1.ReasonBackupPending,
			"The copies of a deleted Keystone of this name are still being removed; "+pushRemedy)
	case r.pending:
		return reconcile.Degraded(keystonev1alpha1.ReasonBackupPending,
			"External Secrets has not stored all keys yet; if that lasts, look at its controller")
	}
	return reconcile.Done(keystonev1alpha1.ReasonKeysBackedUp, fmt.Sprintf(
		"Both key Secrets are stored under openstack/keystone/%s/%s in ClusterSecretStore %s", k.Namespace, k.Name, secretStoreName))
}

// pushRemedy is what ends the failures that External Secrets meets most.
const pushRemedy = "repair ClusterSecretStore " + secretStoreName + " or the backend behind it; " +
	"a path that something else wrote needs the custom metadata managed-by=external-secrets"
