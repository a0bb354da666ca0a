package controller

import (
	"context"
	"fmt"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

var externalSecretKind = esov1.SchemeGroupVersion.WithKind(esov1.ExtSecretKind)

// delivery is a Secret that External Secrets brings from the secret store.
type delivery struct {
	// name is the name of the ExternalSecret and of the Secret.
	name string
	// path is where the properties are in the store.
	path       string
	properties []string
	// ready and waiting are reasons.
	ready, waiting string
}

// reconcileDBCredentials brings the users and the passwords of managed databases
// from the secret store.
func (all serviceList) reconcileDBCredentials(ctx context.Context, s *scope) reconcile.Outcome {
	if !s.cp.ManagesCredentials() {
		return reconcile.Done(c5c3v1alpha1.ReasonBrownfieldUserSuppliedCredential,
			"The credentials of the databases are provided by the user: Secret "+strings.Join(all.databaseSecrets(s.cp), ", Secret "))
	}
	var outcomes []reconcile.Outcome
	for _, svc := range all.withDatabase(s.cp) {
		outcomes = append(outcomes, s.deliver(ctx, delivery{
			name: svc.databaseSecret(s.cp), path: svc.databasePath(s.cluster, s.cp),
			properties: []string{commonv1.DatabaseUsernameKey, commonv1.DatabasePasswordKey},
			ready:      c5c3v1alpha1.ReasonDBCredentialsReady, waiting: c5c3v1alpha1.ReasonWaitingForDBCredentialSecret,
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

// reconcileAdminPassword brings the administrator's password from the secret
// store.
func reconcileAdminPassword(ctx context.Context, s *scope) reconcile.Outcome {
	if !s.cp.ManagesCredentials() {
		return reconcile.Done(c5c3v1alpha1.ReasonBrownfieldUserSuppliedCredential,
			"Secret "+s.cp.AdminSecretRef().Name+" of spec.korc.adminCredential.passwordSecretRef is provided by the user")
	}
	return s.deliver(ctx, delivery{
		name: s.cp.AdminSecretName(), path: adminPasswordPath(s.cluster, s.cp), properties: []string{s.cp.AdminSecretRef().Key},
		ready: c5c3v1alpha1.ReasonAdminPasswordReady, waiting: c5c3v1alpha1.ReasonWaitingForAdminPasswordSecret,
	})
}

// deliver keeps the ExternalSecret and waits for its Secret. A Secret that is
// there counts, also while the store behind it cannot be reached.
func (s *scope) deliver(ctx context.Context, d delivery) reconcile.Outcome {
	if !s.kinds.Served(externalSecretKind) {
		return reconcile.Waiting(c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
			"The cluster has no kind ExternalSecret: install External Secrets, "+
				"or set spec.infrastructure.database.host and bring Secrets of your own")
	}
	es := externalSecret(s.cp, d)
	if err := s.ensureExternalSecret(ctx, es); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonExternalSecretError, err)
	}
	secret := &corev1.Secret{}
	err := s.refs.Get(ctx, s.key(d.name), secret)
	switch {
	case err == nil && len(secrets.MissingKeys(secret, d.properties...)) == 0:
		return reconcile.Done(d.ready, "Secret "+d.name+" is available")
	case client.IgnoreNotFound(err) != nil:
		return reconcile.Failed(d.waiting, fmt.Errorf("reading Secret %s: %w", d.name, err))
	}
	return s.explainDelay(ctx, d, es)
}

// ensureExternalSecret keeps the ExternalSecret, but does not make it as long as
// its Secret is somebody else's: External Secrets would take that over.
func (s *scope) ensureExternalSecret(ctx context.Context, es *esov1.ExternalSecret) error {
	err := s.foreign.Get(ctx, client.ObjectKeyFromObject(es), &esov1.ExternalSecret{})
	if apierrors.IsNotFound(err) {
		err = checkUnclaimed(ctx, s.key(es.Name), s.refs, s.owned.Live)
	}
	if err != nil {
		return err
	}
	return apply.EnsureObject(ctx, s.foreign, s.scheme, s.cp, es, fieldManager)
}

// checkUnclaimed refuses the name of a Secret that no ExternalSecret has made. It
// asks the readers one after the other: a Secret that came together with the
// control plane may not be in a cache yet.
func checkUnclaimed(ctx context.Context, key client.ObjectKey, readers ...client.Reader) error {
	secret := &corev1.Secret{}
	var err error
	for _, reader := range readers {
		if err = reader.Get(ctx, key, secret); !apierrors.IsNotFound(err) {
			break
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("looking for a Secret %s of somebody else: %w", key.Name, err)
	}
	if holder := metav1.GetControllerOf(secret); holder != nil && holder.Kind == esov1.ExtSecretKind && holder.Name == key.Name {
		return nil
	}
	return fmt.Errorf("a Secret named %s already exists that no ExternalSecret of this name has made; rename or delete it: %w",
		key.Name, apply.ErrNotOwned)
}

// explainDelay words the wait for a Secret by what External Secrets says.
func (s *scope) explainDelay(ctx context.Context, d delivery, es *esov1.ExternalSecret) reconcile.Outcome {
	broken, err := secrets.StoreBroken(ctx, s.kinds, s.foreign)
	if err != nil {
		return reconcile.Failed(d.waiting, err)
	}
	if broken {
		return reconcile.Waiting(c5c3v1alpha1.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so ExternalSecret %s cannot deliver its Secret; repair the store or the backend behind it",
			secrets.StoreName, d.name))
	}
	parts := []string{fmt.Sprintf("ExternalSecret %s has not delivered its Secret yet; the store needs the properties %s at %s",
		d.name, strings.Join(d.properties, " and "), d.path)}
	for _, condition := range es.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue && condition.Message != "" {
			parts = append(parts, condition.Message)
		}
	}
	return reconcile.Waiting(d.waiting, strings.Join(parts, ": "))
}
