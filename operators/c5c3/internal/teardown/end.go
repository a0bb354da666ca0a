package teardown

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// goneWithKeystone returns the outcome if Keystone was gone before its content was
// removed. If the database went with its namespace, the content is gone, too.
func goneWithKeystone(ctx context.Context, s *pass.Pass, left []string) reconcile.Outcome {
	lives, err := databaseLives(ctx, s)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	case lives:
		return leftBehind("Not removed before Keystone was gone", left)
	}
	return tornDown()
}

// databaseLives reports whether there is a database that may still hold the content of
// Keystone: an external one, or a managed one that is not being deleted.
func databaseLives(ctx context.Context, s *pass.Pass) (bool, error) {
	ref := s.CP.Spec.Infrastructure.Database.ClusterRef
	if ref == nil {
		return true, nil
	}
	if !s.Kinds.Served(infraapi.MariaDBKind) {
		return false, nil
	}
	database := &infraapi.MariaDB{}
	err := s.Foreign.Get(ctx, s.Key(ref.Name), database)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading MariaDB %s: %w", ref.Name, err)
	}
	return err == nil && database.DeletionTimestamp.IsZero(), nil
}

func tornDown() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "What K-ORC made is gone").
		WithNormalEvent(c5c3v1alpha1.EventORCTeardownComplete, "What K-ORC created in Keystone, and its copy in the secret store, is gone")
}

func leftBehind(cause string, left []string) reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "The deletion continues without K-ORC").
		WithEvent(corev1.EventTypeWarning, c5c3v1alpha1.EventORCTeardownStalled, fmt.Sprintf(
			"%s: %s; delete what is left there by hand, in OpenStack or in the secret store", cause, strings.Join(left, ", ")))
}
