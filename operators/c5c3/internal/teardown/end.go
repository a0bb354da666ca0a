package teardown

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// teardownPeriod is the requeue interval of a waiting deletion.
const teardownPeriod = 10 * time.Second

// abandoned is what the deletion leaves to the user, nothing without objects.
type abandoned struct {
	why     string
	objects []string
}

// giveUp continues without K-ORC and External Secrets once they have had their time, or
// have nothing left to work on. Before, the error is that of waiting.
func giveUp(ctx context.Context, s *pass.Pass, left remains, waiting []string) (abandoned, error) {
	wait := reconcile.WaitError("", fmt.Sprintf("K-ORC and External Secrets are removing %s; after %s the deletion continues without them",
		strings.Join(waiting, ", "), s.StallTimeout)).
		OnTransition(corev1.EventTypeNormal, c5c3v1alpha1.EventFinalizingORC, "Removing what K-ORC created in Keystone")
	if !late(s) && (left.push != "" || !left.keystoneGone) {
		return abandoned{}, wait.After(min(teardownPeriod, s.StallTimeout/8))
	}
	switch begun, err := deleteRemaining(ctx, s, left.objects); {
	case err != nil:
		return abandoned{}, err
	case begun:
		return abandoned{}, wait.After(time.Second)
	}
	if err := removeKORCFinalizers(ctx, s, left.objects); err != nil {
		return abandoned{}, err
	}
	if left.keystoneGone && left.push == "" {
		return withoutKeystone(ctx, s, waiting)
	}
	return abandoned{fmt.Sprintf("Not removed within %s", s.StallTimeout), waiting}, nil
}

// withoutKeystone returns what stays if Keystone was gone before its content was removed.
// If the database went with its namespace, the content is gone, too.
func withoutKeystone(ctx context.Context, s *pass.Pass, left []string) (abandoned, error) {
	lives, err := databaseLives(ctx, s)
	if err != nil || !lives {
		return abandoned{}, err
	}
	return abandoned{"Not removed before Keystone was gone", left}, nil
}

// databaseLives reports whether there is a database that may still hold the content of
// Keystone: an external one, or a managed one that is not being deleted.
func databaseLives(ctx context.Context, s *pass.Pass) (bool, error) {
	ref := s.CP.Spec.Infrastructure.Database.ClusterRef
	if ref == nil {
		return true, nil
	}
	server, err := pass.MariaDB(ctx, s, ref.Name)
	return server != nil, err
}
