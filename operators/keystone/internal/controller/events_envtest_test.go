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

// occurs waits until the events that is picks have occurred so many times: the
// operator writes events beside its work, whenever it comes to it.
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

// expectEvents waits until an event, such as "Normal Rotated", has occurred so
// many times.
func expectEvents(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, event string, times int32) {
	t.Helper()
	occurs(t, c, k, event, times, func(e expect.Event) bool { return e.Type+" "+e.Reason == event })
}

// expectEvent waits for an event that is there exactly once.
func expectEvent(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, event string) {
	t.Helper()
	expectEvents(t, c, k, event, 1)
}

// expectOnce waits for events, of whatever type, that are there exactly once, and
// that the operator has announced once up to now.
func expectOnce(
	t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator, reasons ...string,
) {
	t.Helper()
	for _, reason := range reasons {
		occurs(t, c, k, reason, 1, func(e expect.Event) bool { return e.Reason == reason })
		announced := operator.Announced()
		if got := announced["Normal "+reason] + announced["Warning "+reason]; got != 1 {
			t.Errorf("%d events %s, expected one", got, reason)
		}
	}
}
