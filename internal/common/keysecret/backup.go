package keysecret

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ReconcileBackup has External Secrets keep copies of all keys in the secret store. It only
// informs: a service whose backup fails keeps serving, and External Secrets keeps retrying.
func ReconcileBackup(ctx context.Context, p *service.Pass, all ...Keys) reconcile.Outcome {
	if !p.Kinds.Served(secrets.PushSecretGVK) {
		return reconcile.Done(vocabulary.ReasonBackupNotConfigured, fmt.Sprintf(
			"External Secrets is not installed, so nothing copies %s out of the cluster; keep a copy yourself", named(p, all)))
	}
	report := backupReport{}
	for _, backup := range all {
		state, again, err := backup.ensureCopy(ctx, p)
		if !again.IsZero() {
			report.again = append(report.again, again.Sub(p.Now()))
		}
		switch {
		case errors.Is(err, errNoKeysYet):
			report.missing = append(report.missing, backup.Of(p))
		case errors.Is(err, apply.ErrPredecessor):
			report.predecessor = true
		case errors.Is(err, apply.ErrNotOwned):
			report.obstructed = true
			report.failing = append(report.failing, err.Error())
		case err != nil:
			return reconcile.Failed(vocabulary.ReasonBackupFailing, err)
		case state.Failed():
			report.failing = append(report.failing, fmt.Sprintf("PushSecret %s cannot write to %s (%s)",
				backup.backup(p), backup.path(p), state.Message))
		case !state.Synced:
			report.pending = true
		}
	}
	outcome := report.outcome(p, all)
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

// ensureCopy ensures the PushSecret of one key Secret and returns when it must be
// pushed again. While the Secret is missing or damaged, the PushSecret stays as it is.
// That preserves the copy, from which the keys are restored.
func (k Keys) ensureCopy(ctx context.Context, p *service.Pass) (state secrets.PushState, again time.Time, err error) {
	source, err := p.Owned.Find(ctx, p.Key(k.Of(p)))
	if err != nil {
		return state, again, err
	}
	live, err := FindPush(ctx, p, k.backup(p))
	if err != nil {
		return state, again, err
	}
	// What was not claimed may be the keys of another database, and keys that nobody has tested
	// may not be those that the copy has to restore.
	if source == nil || !service.Claims(p, source) || k.Validate(source.Data) != nil || k.untested(p, source) {
		if live == nil {
			return state, again, errNoKeysYet
		}
		return secrets.PushStateOf(live), again, nil
	}
	push := k.push(p, source)
	maps.Copy(push.Annotations, service.Irreplaceable(p, push.Name).Annotations)
	if err := secrets.Keep(p.Scheme, p.Resource, source, push); err != nil {
		return state, again, err
	}
	again = secrets.RepeatPush(push, live, p.Now(), backupPeriod)
	if err := secrets.EnsurePushSecret(ctx, p.ThirdParty, p.Scheme, p.Resource, push, apply.FieldManager); err != nil {
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
	// predecessor is true while the copy of a deleted resource is being removed.
	predecessor bool
	// obstructed is true if an object with a required name has another owner.
	obstructed bool
}

// outcome reports that the copies are stored, or why they are not.
func (r backupReport) outcome(p *service.Pass, all []Keys) reconcile.Outcome {
	switch {
	case len(r.failing) > 0:
		message := fmt.Sprintf("The keys are not backed up: %s; %s", strings.Join(r.failing, "; "), Remedy)
		failing := reconcile.Degraded(vocabulary.ReasonBackupFailing, message).
			OnTransition(corev1.EventTypeWarning, vocabulary.EventBackupFailing, message)
		if r.obstructed {
			return failing.After(reconcile.ObstructionPeriod)
		}
		return failing
	case r.predecessor:
		return reconcile.Degraded(vocabulary.ReasonBackupPending,
			"The copies of a deleted "+p.Kind+" of this name are still being removed; "+Remedy)
	case len(r.missing) > 0:
		return reconcile.Degraded(vocabulary.ReasonBackupPending, fmt.Sprintf(
			"No keys in Secret %s yet, so there is nothing to copy; see the conditions of the keys", strings.Join(r.missing, " and ")))
	case r.pending:
		return reconcile.Degraded(vocabulary.ReasonBackupPending,
			"External Secrets has not stored all keys yet; if this persists, check its controller")
	}
	return reconcile.Done(vocabulary.ReasonKeysBackedUp, fmt.Sprintf(
		"The keys in %s are stored under %s in ClusterSecretStore %s", named(p, all), folder(p), secrets.StoreName))
}

// named lists the Secrets.
func named(p *service.Pass, all []Keys) string {
	names := make([]string, 0, len(all))
	for _, keys := range all {
		names = append(names, keys.Of(p))
	}
	if len(names) == 1 {
		return "Secret " + names[0]
	}
	return "Secrets " + strings.Join(names, " and ")
}
