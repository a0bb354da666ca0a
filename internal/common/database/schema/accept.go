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

// acceptSchema records the release of a schema that passed the check, and promotes the
// connection that the check has verified.
func (w *work) acceptSchema(ctx context.Context, message string) reconcile.Outcome {
	if err := w.Database.Promote(ctx, w.Pass); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonSecretInvalid, err)
	}
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
	w.Status.InstalledRelease = w.Spec.Image.Tag
	return outcome
}
