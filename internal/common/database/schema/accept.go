package schema

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// schemaMessage is the message for a schema that matches the image.
const schemaMessage = "Database schema is up to date (revision verified)"

func upgradedMessage(from, to string) string {
	return fmt.Sprintf("%s (upgraded %s → %s)", schemaMessage, from, to)
}

// acceptSchema accepts a schema that was not upgraded.
func (w *work) acceptSchema(ctx context.Context, message string) reconcile.Outcome {
	outcome := reconcile.Done(vocabulary.ReasonDatabaseSynced, message)
	if w.Status.InstalledRelease == "" {
		deploy, err := deployment.Live(ctx, w.Pass)
		switch {
		case err != nil:
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		case deploy == nil || deployment.TagOf(deployment.APIImage(w.Definition, &deploy.Spec.Template.Spec)) != w.Spec.Image.Tag:
			// If the image changed now, nothing else would record which release it was.
			outcome = outcome.AtOnce()
		}
	}
	if err := w.accept(ctx); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
	}
	return outcome
}
