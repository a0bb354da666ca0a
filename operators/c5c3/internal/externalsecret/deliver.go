package externalsecret

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
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Kind is the kind that delivers Secrets from the secret store.
var Kind = esov1.SchemeGroupVersion.WithKind(esov1.ExtSecretKind)

// Deliver ensures the ExternalSecret and returns an error until its Secret is available.
// An existing Secret counts, even while the store behind it is unreachable.
func Deliver(ctx context.Context, s *pass.Pass, d Delivery) error {
	if !s.Kinds.Served(Kind) {
		return reconcile.WaitError(c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
			"The cluster has no kind ExternalSecret: install External Secrets, "+
				"or set spec.infrastructure.database.host and provide the Secrets yourself")
	}
	es := New(s.CP, d)
	if err := Ensure(ctx, s, es); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonExternalSecretError, err)
	}
	secret, err := apply.Find(ctx, s.Refs, pass.Key(s, d.Name), &corev1.Secret{})
	if err != nil || secret != nil && len(secrets.MissingKeys(secret, d.Properties...)) == 0 {
		return err
	}
	return explainDelay(ctx, s, d, es)
}

// Ensure applies the ExternalSecret, but does not create it while its Secret has another
// owner: External Secrets would adopt that Secret.
func Ensure(ctx context.Context, s *pass.Pass, es *esov1.ExternalSecret) error {
	err := s.ThirdParty.Get(ctx, client.ObjectKeyFromObject(es), &esov1.ExternalSecret{})
	if apierrors.IsNotFound(err) {
		err = checkUnclaimed(ctx, pass.Key(s, es.Name), s.Refs, s.APIReader)
	}
	if err != nil {
		return err
	}
	return apply.EnsureObject(ctx, s.ThirdParty, s.Scheme, s.CP, es, pass.FieldManager)
}

// checkUnclaimed refuses the name of a Secret that was not created by an ExternalSecret.
// It asks the readers in order: a Secret that was created together with the control plane
// may not be in a cache yet.
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
	return fmt.Errorf("a Secret named %s already exists that no ExternalSecret of this name has created; rename or delete it: %w",
		key.Name, apply.ErrNotOwned)
}

// explainDelay includes the state that External Secrets reports in the wait for a Secret.
func explainDelay(ctx context.Context, s *pass.Pass, d Delivery, es *esov1.ExternalSecret) error {
	broken, err := secrets.BrokenStore(ctx, s.Kinds, s.ThirdParty)
	if err != nil {
		return err
	}
	if broken != "" {
		return reconcile.WaitError(c5c3v1alpha1.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so ExternalSecret %s cannot deliver its Secret; repair the store or the backend behind it",
			broken, d.Name))
	}
	parts := []string{fmt.Sprintf("ExternalSecret %s has not delivered its Secret yet; the store needs the properties %s at %s",
		d.Name, strings.Join(d.Properties, " and "), d.Path)}
	for _, condition := range es.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue && condition.Message != "" {
			parts = append(parts, condition.Message)
		}
	}
	return reconcile.WaitError("", strings.Join(parts, ": "))
}
