package conformance

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// event waits until an event, such as "Normal DatabaseSynced", has occurred that many
// times. The operator writes events asynchronously.
func (i *Instance[T]) event(event string, times int32) {
	i.Helper()
	expect.Eventually(i.T, fmt.Sprintf("%d times the event %s", times, event), func(context.Context) error {
		events := expect.Events(i.T, i.Admin, i.Resource)
		var seen int32
		for _, e := range events {
			if e.Type+" "+e.Reason == event {
				seen += e.Count
			}
		}
		if seen != times {
			return fmt.Errorf("it was seen %d times among %+v", seen, events)
		}
		return nil
	})
}

// announced fails the test unless the operator has emitted the event that many times.
func (i *Instance[T]) announced(event string, times int) {
	i.Helper()
	if got := i.Operator.Announced()[event]; got != times {
		i.Errorf("%d times the event %s, expected %d", got, event, times)
	}
}
