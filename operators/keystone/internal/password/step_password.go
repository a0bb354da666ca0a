// Package password replaces the administrator's password on a schedule.
package password

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

var schedule = scheduled.Task{
	Name: rotationName, Does: "generating a new password for the administrator", Failed: keystonev1alpha1.ReasonRotationFailed,
	Database: pass.Database,
}

// Reconcile replaces the administrator's password on a schedule. A CronJob stages a new
// one, and the operator validates it and keeps it as the next one. It reaches the Secret
// of the spec through External Secrets, or directly if nothing else writes that Secret.
// Bootstrap then sets it in Keystone, as after every change of that Secret.
func Reconcile(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	k := s.Resource
	if !k.Spec.PasswordRotationEnabled() {
		if err := remove(ctx, s); err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
		}
		s.Own.Lifetimes.EndRotation(client.ObjectKeyFromObject(k), keyType)
		return reconcile.Done(keystonev1alpha1.ReasonRotationDisabled, "spec.bootstrap.passwordRotation is not enabled")
	}
	// Without a configuration, which the Config step reports, the schedule stays as it is.
	if service.Config.Value(s.Slots).ConfigMap != "" {
		if err := configured(s).Ensure(ctx, s); err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
		}
	}
	promoted, err := promote(ctx, s)
	_, refused := errors.AsType[*refusalError](err)
	var at stage
	if err == nil || refused {
		// A password that was promoted earlier is delivered although the staged one is
		// refused. What keeps it from that is reported first.
		var obstacle error
		if at, obstacle = deliver(ctx, s); obstacle != nil {
			err = obstacle
		}
	}
	var again time.Duration
	if err == nil {
		again, err = schedule.Check(ctx, s.Pass)
	}
	outcome := report(at, err).Within(again)
	if promoted {
		outcome = outcome.WithNormalEvent(keystonev1alpha1.EventAdminPasswordRotated,
			fmt.Sprintf("Stored a new password for the administrator in Secret %s", NextName(k)))
	}
	return outcome
}

// report reports how far the next password has come, or what it is kept from.
func report(at stage, err error) reconcile.Outcome {
	if refusal, ok := errors.AsType[*refusalError](err); ok {
		return reconcile.Terminal(refusal.reason, err)
	}
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	outcome := reconcile.Done(at.reason, at.message).Within(at.again)
	if at.backupProblem != "" {
		outcome = outcome.OnNews(corev1.EventTypeWarning, vocabulary.EventBackupFailing, at.backupProblem)
	}
	return outcome
}
