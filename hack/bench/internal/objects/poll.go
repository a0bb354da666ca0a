package objects

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// pollInterval is the polling interval for what cannot be watched.
const pollInterval = 50 * time.Millisecond

// Poll calls check periodically until it returns true or fails.
func Poll(ctx context.Context, what string, check func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextCancel(ctx, pollInterval, true, check); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
