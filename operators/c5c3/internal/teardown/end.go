package teardown

import (
	"context"
	"fmt"
	"time"

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
// have nothing left to work on. Before, it returns the requeue delay.
func giveUp(ctx context.Context, s *pass.Pass, left remains, waiting []string) (abandoned, time.Duration, error) {
	if !late(s) && (left.push != "" || !left.keystoneGone) {
		return abandoned{}, min(teardownPeriod, s.StallTimeout/8), nil
	}
	begun, err := deleteRemaining(ctx, s, left.objects)
	if begun || err != nil {
		return abandoned{}, time.Second, err
	}
	if err := removeKORCFinalizers(ctx, s, left.objects); err != nil {
		return abandoned{}, 0, err
	}
	if left.keystoneGone && left.push == "" {
		given, err := withoutKeystone(ctx, s, waiting)
		return given, 0, err
	}
	return abandoned{fmt.Sprintf("Not removed within %s", s.StallTimeout), waiting}, 0, nil
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
	server, err := s.MariaDB(ctx, ref.Name)
	return server != nil, err
}
