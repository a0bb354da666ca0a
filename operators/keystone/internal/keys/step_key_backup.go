package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/pushsecret"
)

// ReconcileBackup has External Secrets keep copies of both key families in the secret
// store. It only informs: a Keystone whose backup fails keeps serving, and External
// Secrets keeps retrying.
func ReconcileBackup(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	k := s.Resource
	if !s.Kinds.Served(secrets.PushSecretGVK) {
		return reconcile.Done(keystonev1alpha1.ReasonBackupNotConfigured, fmt.Sprintf(
			"External Secrets is not installed, so nothing copies Secrets %s and %s out of the cluster; keep a copy yourself",
			pass.FernetKeysName(k), pass.CredentialKeysName(k)))
	}
	report := backupReport{}
	for _, backup := range keyBackups {
		state, again, err := ensureBackup(ctx, s, backup)
		if !again.IsZero() {
			report.again = append(report.again, again.Sub(s.Now()))
		}
		switch {
		case errors.Is(err, errNoKeysYet):
			report.missing = append(report.missing, backup.source(k))
		case errors.Is(err, apply.ErrPredecessor):
			report.predecessor = true
		case errors.Is(err, apply.ErrNotOwned):
			report.obstructed = true
			report.failing = append(report.failing, err.Error())
		case err != nil:
			return reconcile.Failed(keystonev1alpha1.ReasonBackupFailing, err)
		case state.Failed():
			report.failing = append(report.failing, fmt.Sprintf("PushSecret %s cannot write to %s (%s)",
				backup.name(k), backup.path(s.Cluster, k), state.Message))
		case !state.Synced:
			report.pending = true
		}
	}
	outcome := report.outcome(keysPath(s.Cluster, k))
	for _, again := range report.again {
		outcome = outcome.Within(again)
	}
	return outcome
}

// backupPeriod is how long a copy that the store has lost may be missing. The loss itself
// is not reported by any event.
const backupPeriod = time.Hour

// errNoKeysYet is returned for a key Secret that never held keys to copy.
var errNoKeysYet = errors.New("there are no keys yet")

// ensureBackup ensures the PushSecret of one key Secret and returns when it must be
// pushed again. While the Secret is missing or damaged, the PushSecret stays as it is.
// That preserves the copy, from which the keys are restored.
func ensureBackup(ctx context.Context, s *pass.Scope, backup keyBackup) (state secrets.PushState, again time.Time, err error) {
	source, err := s.Owned.Find(ctx, s.Key(backup.source(s.Resource)))
	if err != nil {
		return state, again, err
	}
	live, err := pushsecret.Find(ctx, s, backup.name(s.Resource))
	if err != nil {
		return state, again, err
	}
	// What was not claimed may be the keys of another database.
	if source == nil || !service.Claims(s.Pass, source) || fernet.ValidateInUse(source.Data) != nil {
		if live == nil {
			return state, again, errNoKeysYet
		}
		return secrets.PushStateOf(live), again, nil
	}
	push := backup.push(s.Cluster, s.Resource, source)
	maps.Copy(push.Annotations, service.Irreplaceable(s.Pass, push.Name).Annotations)
	if err := secrets.Keep(s.Scheme, s.Resource, source, push); err != nil {
		return state, again, err
	}
	again = secrets.RepeatPush(push, live, s.Now(), backupPeriod)
	if err := secrets.EnsurePushSecret(ctx, s.ThirdParty, s.Scheme, s.Resource, push, apply.FieldManager); err != nil {
		return state, time.Time{}, err
	}
	return secrets.PushStateOf(push), again, nil
}

// backupReport is what a pass found out about all backups.
type backupReport struct {
	failing []string
	// missing are the key Secrets that hold no keys yet.
	missing []string
	// again is the delay until each copy must be pushed again.
	again []time.Duration
	// pending is true if External Secrets has not stored all keys yet.
	pending bool
	// predecessor is true while the copy of a deleted Keystone is being removed.
	predecessor bool
	// obstructed is true if an object with a required name has another owner.
	obstructed bool
}

// outcome reports that the copies are stored below path, or why they are not.
func (r backupReport) outcome(path string) reconcile.Outcome {
	switch {
	case len(r.failing) > 0:
		message := fmt.Sprintf("The keys are not backed up: %s; %s", strings.Join(r.failing, "; "), pushsecret.Remedy)
		failing := reconcile.Degraded(keystonev1alpha1.ReasonBackupFailing, message).
			OnTransition(corev1.EventTypeWarning, keystonev1alpha1.EventBackupFailing, message)
		if r.obstructed {
			return failing.After(reconcile.ObstructionPeriod)
		}
		return failing
	case r.predecessor:
		return reconcile.Degraded(keystonev1alpha1.ReasonBackupPending,
			"The copies of a deleted Keystone of this name are still being removed; "+pushsecret.Remedy)
	case len(r.missing) > 0:
		return reconcile.Degraded(keystonev1alpha1.ReasonBackupPending, fmt.Sprintf(
			"No keys in Secret %s yet, so there is nothing to copy; see FernetKeysReady and CredentialKeysReady",
			strings.Join(r.missing, " and ")))
	case r.pending:
		return reconcile.Degraded(keystonev1alpha1.ReasonBackupPending,
			"External Secrets has not stored all keys yet; if this persists, check its controller")
	}
	return reconcile.Done(keystonev1alpha1.ReasonKeysBackedUp, fmt.Sprintf(
		"Both key Secrets are stored under %s in ClusterSecretStore %s", path, secrets.StoreName))
}
