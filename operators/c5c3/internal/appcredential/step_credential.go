package appcredential

import (
	"context"
	"fmt"
	"slices"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/externalsecret"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Reconcile makes K-ORC create the administrator's application credential. It provides
// what K-ORC needs for that: the administrator's password, the imports, and a first
// clouds.yaml.
func Reconcile(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil {
		return pass.NoKeystone()
	}
	stored := &secret{Pass: s}
	err := korcInstalled(s)
	if err == nil {
		err = stored.readPassword(ctx)
	}
	if err == nil {
		err = stored.prepare(ctx)
	}
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
	}
	c := &creation{secret: stored}
	again, err := c.keepImports(ctx)
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonAdminImportError, err)
	}
	err = c.keepCredential(ctx)
	Credential.Put(s.Slots, Held{secret: stored, credential: c.credential})
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonApplicationCredentialError, err).Within(again)
	}
	return report(ctx, s, *c.credential.Status.ID).Within(again)
}

// ReconcileInputs creates the Secrets that K-ORC needs while Keystone is starting. Missing
// prerequisites are reported by the steps that need thesecret.
func ReconcileInputs(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil || s.CP.Status.AdminApplicationCredential != nil {
		return pass.NothingToAdd()
	}
	stored := &secret{Pass: s}
	if korcInstalled(s) != nil || stored.readPassword(ctx) != nil {
		return pass.NothingToAdd()
	}
	if err := stored.prepare(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
	}
	return pass.NothingToAdd()
}

func korcInstalled(s *pass.Pass) error {
	if kind := korc.MissingKind(s); kind != "" {
		return reconcile.WaitError(c5c3v1alpha1.ReasonKORCNotInstalled, fmt.Sprintf(
			"The cluster has no kind %s of %s: install K-ORC, the OpenStack Resource Controller", kind, orcv1alpha1.GroupName))
	}
	if !s.Kinds.Served(externalsecret.Kind) || !s.Kinds.Served(secrets.PushSecretGVK) {
		return reconcile.WaitError(c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
			"The cluster has no kinds ExternalSecret and PushSecret, which deliver the application credential: install External Secrets")
	}
	return nil
}

// report returns the outcome once Keystone has the credential with the ID.
func report(ctx context.Context, s *pass.Pass, id string) reconcile.Outcome {
	stalled, again, err := overdue(ctx, s)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	case stalled != "":
		return reconcile.Waiting(c5c3v1alpha1.ReasonReMintStalled, stalled).After(again).Proceed()
	}
	message, err := describeCredential(ctx, s, id)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, message).After(again)
}

// describeCredential describes the credential that the administrator has.
func describeCredential(ctx context.Context, s *pass.Pass, id string) (string, error) {
	message := "The administrator has the application credential " + id
	unscheduled, err := lacksSchedule(ctx, s)
	if unscheduled {
		message += "; the rotation mode is Scheduled, but nothing replaces the credential: create a CredentialRotation with intervalDays"
	}
	return message, err
}

// lacksSchedule reports whether the credential is to be replaced on a schedule and none
// exists.
func lacksSchedule(ctx context.Context, s *pass.Pass) (bool, error) {
	if s.CP.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode != c5c3v1alpha1.RotationScheduled {
		return false, nil
	}
	var rotations c5c3v1alpha1.CredentialRotationList
	if err := s.Client.List(ctx, &rotations, client.InNamespace(s.CP.Namespace)); err != nil {
		return false, fmt.Errorf("listing the CredentialRotations of the namespace: %w", err)
	}
	return !slices.ContainsFunc(rotations.Items, func(r c5c3v1alpha1.CredentialRotation) bool {
		return r.DeletionTimestamp.IsZero() && r.Spec.HasSchedule()
	}), nil
}
