package infrastructure

import (
	"context"
	"strings"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/externalsecret"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// ReconcileDatabaseCredentials delivers the user names and passwords of managed databases
// from the secret store.
func ReconcileDatabaseCredentials(ctx context.Context, s *pass.Pass, all services.List) reconcile.Outcome {
	if !s.CP.ManagesCredentials() {
		return reconcile.Done(c5c3v1alpha1.ReasonBrownfieldUserSuppliedCredential,
			"The credentials of the databases are provided by the user: Secret "+strings.Join(all.DatabaseSecrets(s.CP), ", Secret "))
	}
	var outcomes []reconcile.Outcome
	for _, svc := range all.WithDatabase(s.CP) {
		outcomes = append(outcomes, externalsecret.Deliver(ctx, s, externalsecret.Delivery{
			Name: svc.DatabaseSecret(s.CP), Path: svc.DatabasePath(s.Cluster, s.CP),
			Properties: []string{commonv1.DatabaseUsernameKey, commonv1.DatabasePasswordKey},
			Ready:      c5c3v1alpha1.ReasonDBCredentialsReady, Waiting: c5c3v1alpha1.ReasonWaitingForDBCredentialSecret,
		}))
	}
	messages := make([]string, 0, len(outcomes))
	for _, outcome := range outcomes {
		if !outcome.IsDone() {
			return outcome
		}
		messages = append(messages, outcome.Message())
	}
	return reconcile.Done(c5c3v1alpha1.ReasonDBCredentialsReady, strings.Join(messages, "; "))
}

// ReconcileAdminPassword delivers the administrator's password from the secret store.
func ReconcileAdminPassword(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if !s.CP.ManagesCredentials() {
		return reconcile.Done(c5c3v1alpha1.ReasonBrownfieldUserSuppliedCredential,
			"Secret "+s.CP.AdminSecretRef().Name+" of spec.korc.adminCredential.passwordSecretRef is provided by the user")
	}
	return externalsecret.Deliver(ctx, s, externalsecret.Delivery{
		Name: s.CP.AdminSecretName(), Path: controlplane.AdminPasswordPath(s.Cluster, s.CP), Properties: []string{s.CP.AdminSecretRef().Key},
		Ready: c5c3v1alpha1.ReasonAdminPasswordReady, Waiting: c5c3v1alpha1.ReasonWaitingForAdminPasswordSecret,
	})
}
