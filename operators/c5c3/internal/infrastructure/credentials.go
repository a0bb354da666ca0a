package infrastructure

import (
	"cmp"
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
	var available []string
	var errs []error
	for _, svc := range all.WithCredentials(s.CP) {
		name := svc.Database.Secret(s.CP)
		available = append(available, isAvailable(name))
		errs = append(errs, externalsecret.Deliver(ctx, s, externalsecret.Delivery{
			Name: name, Path: svc.Database.Path(s.Cluster, s.CP),
			Properties: []string{commonv1.UsernameKey, commonv1.PasswordKey},
		}))
	}
	if err := cmp.Or(errs...); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonWaitingForDBCredentialSecret, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonDBCredentialsReady, strings.Join(available, "; "))
}

// ReconcileAdminPassword delivers the administrator's password from the secret store.
func ReconcileAdminPassword(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if !s.CP.ManagesCredentials() {
		return reconcile.Done(c5c3v1alpha1.ReasonBrownfieldUserSuppliedCredential,
			"Secret "+s.CP.AdminSecretRef().Name+" of spec.korc.adminCredential.passwordSecretRef is provided by the user")
	}
	name := s.CP.AdminSecretName()
	err := externalsecret.Deliver(ctx, s, externalsecret.Delivery{
		Name: name, Path: controlplane.AdminPasswordPath(s.Cluster, s.CP), Properties: []string{s.CP.AdminSecretRef().Key},
	})
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonWaitingForAdminPasswordSecret, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonAdminPasswordReady, isAvailable(name))
}

func isAvailable(secret string) string { return "Secret " + secret + " is available" }
