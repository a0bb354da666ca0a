package schema

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// schemaMessage is the message for a schema that matches the image.
const schemaMessage = "Database schema is up to date (revision verified)"

func upgradedMessage(from, to string) string {
	return fmt.Sprintf("%s (upgraded %s → %s)", schemaMessage, from, to)
}

// accept records the release of a schema that passed the check, and promotes the
// connection that the check has verified.
func (w *work) accept(ctx context.Context) error {
	if err := w.promote(ctx); err != nil {
		return err
	}
	w.Status.InstalledRelease, w.accepted = w.Spec.Image.Tag, true
	return nil
}

// promote gives pods the connection that a Job has verified.
func (w *work) promote(ctx context.Context) error {
	return reconcile.WithReason(vocabulary.ReasonSecretInvalid, w.Database.Promote(ctx, w.Pass))
}
