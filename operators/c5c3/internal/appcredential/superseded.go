package appcredential

import (
	"context"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Superseded returns the credentials that are waiting to be revoked.
func Superseded(ctx context.Context, s *pass.Pass) ([]*orcv1alpha1.ApplicationCredential, error) {
	having := client.HasLabels{c5c3v1alpha1.LabelSuperseded}
	found, err := korc.Own[*orcv1alpha1.ApplicationCredential](ctx, s, having, &orcv1alpha1.ApplicationCredentialList{})
	if err != nil {
		return nil, fmt.Errorf("listing superseded ApplicationCredentials: %w", err)
	}
	return found, nil
}

// overdue explains why a replaced credential stays valid for too long, "" if none does,
// and returns the requeue delay while one should be gone, zero otherwise.
func overdue(ctx context.Context, s *pass.Pass) (stalled string, again time.Duration, err error) {
	superseded, err := Superseded(ctx, s)
	if err != nil {
		return "", 0, err
	}
	for _, old := range superseded {
		since, overdue := korc.OverdueSince(s, old)
		if !overdue {
			continue
		}
		again = soon(s)
		if s.Now().Sub(since) >= s.StallTimeout {
			return explainOverdue(s, old), again, nil
		}
	}
	return "", again, nil
}

func explainOverdue(s *pass.Pass, old *orcv1alpha1.ApplicationCredential) string {
	if !old.DeletionTimestamp.IsZero() {
		return fmt.Sprintf("K-ORC has not released a replaced credential: %s; repair K-ORC or its connection to Keystone", korc.Describe(old))
	}
	return fmt.Sprintf("The replaced credential is still valid: %s; repair the operator's connection to %s, "+
		"or the administrator's password in Secret %s", korc.Describe(old), controlplane.AuthURL(s.CP), s.CP.AdminSecretRef().Name)
}
