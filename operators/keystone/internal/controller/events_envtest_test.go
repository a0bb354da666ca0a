//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// occurs waits until the events selected by is have occurred that many times. The
// operator writes events asynchronously.
func occurs(
	t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, what string, times int32, is func(expect.Event) bool,
) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("%d times the event %s", times, what), func(context.Context) error {
		events := expect.Events(t, c, k)
		var seen int32
		for _, event := range events {
			if is(event) {
				seen += event.Count
			}
		}
		if seen != times {
			return fmt.Errorf("it was seen %d times among %+v", seen, events)
		}
		return nil
	})
}

// expectEvents waits until an event, such as "Normal Rotated", has occurred that many
// times.
func expectEvents(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, event string, times int32) {
	t.Helper()
	occurs(t, c, k, event, times, func(e expect.Event) bool { return e.Type+" "+e.Reason == event })
}

// expectEvent waits for an event that has occurred exactly once.
func expectEvent(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, event string) {
	t.Helper()
	expectEvents(t, c, k, event, 1)
}

// expectOnce waits for events of any type that have occurred exactly once, and that the
// operator has emitted once so far.
func expectOnce(
	t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator, reasons ...string,
) {
	t.Helper()
	for _, reason := range reasons {
		occurs(t, c, k, reason, 1, func(e expect.Event) bool { return e.Reason == reason })
		announced := operator.Announced(k)
		if got := announced["Normal "+reason] + announced["Warning "+reason]; got != 1 {
			t.Errorf("%d events %s, expected one", got, reason)
		}
	}
}
