// Package expect is the small vocabulary in which tests against an API server
// express what they wait for. Every expectation is retried until it holds or
// times out, and then reports the actual state.
package expect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// retries are fast at first. Longer waits poll less often, since many
// tests share an API server and few cores.
var retries = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Steps: 10, Cap: 250 * time.Millisecond}

// Eventually retries check until it returns nil. After the timeout the
// test fails with what and the last error of check.
func Eventually(t testing.TB, what string, check func(ctx context.Context) error) {
	t.Helper()
	if err := Until(t.Context(), check); err != nil {
		t.Fatalf("%s: not within %s: %v", what, Timeout, err)
	}
}

// Until retries check until it returns nil, and otherwise returns its last
// error after the timeout or when ctx ends.
func Until(ctx context.Context, check func(ctx context.Context) error) error {
	var last error
	waiting, giveUp := context.WithTimeout(ctx, Timeout)
	defer giveUp()
	err := retries.DelayFunc().Until(waiting, true, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		// The context's own error would hide what the check was waiting for.
		if err == nil || ctx.Err() == nil || last == nil {
			last = err
		}
		return err == nil, nil
	})
	if err == nil {
		return nil
	}
	return errors.Join(last, ctx.Err())
}

// Condition waits until the object's condition has the status and reason, has
// all the given parts in its message and, if it has a generation, is about the object's
// current one. The last state of the object is left in obj.
func Condition(
	t testing.TB, c client.Client, obj client.Object, conditionType string, status metav1.ConditionStatus, reason string,
	says ...string,
) metav1.Condition {
	t.Helper()
	var found *metav1.Condition
	err := Until(t.Context(), func(ctx context.Context) error {
		conditions, err := read(ctx, c, obj)
		if err != nil {
			return err
		}
		found = meta.FindStatusCondition(conditions, conditionType)
		return compare(found, status, reason, says, obj.GetGeneration())
	})
	if err != nil {
		t.Fatalf("%s: expected %s=%s/%s within %s: %v\n%s",
			describe(c, obj), conditionType, status, reason, Timeout, err, State(t, c, obj))
	}
	Observed(c, obj, conditionType, status, reason)
	return *found
}

// compare describes how the condition differs from the expected one.
func compare(
	found *metav1.Condition, status metav1.ConditionStatus, reason string, says []string, generation int64,
) error {
	if found == nil || found.Status != status || found.Reason != reason {
		return errors.New("the condition differs")
	}
	for _, part := range says {
		if !strings.Contains(found.Message, part) {
			return fmt.Errorf("the message does not say %q", part)
		}
	}
	// Not all foreign controllers set the generation.
	if found.ObservedGeneration != 0 && found.ObservedGeneration < generation {
		return fmt.Errorf("the condition is about generation %d of %d", found.ObservedGeneration, generation)
	}
	return nil
}

// Gone waits until the object no longer exists.
func Gone(t testing.TB, c client.Client, obj client.Object) {
	t.Helper()
	err := Until(t.Context(), func(ctx context.Context) error {
		switch err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("it is there: deletionTimestamp %v, finalizers %v", obj.GetDeletionTimestamp(), obj.GetFinalizers())
	})
	if err != nil {
		t.Fatalf("%s: expected to be gone within %s: %v\n%s", describe(c, obj), Timeout, err, State(t, c, obj))
	}
}

// Exists waits until the object exists and leaves its state in obj.
func Exists(t testing.TB, c client.Client, obj client.Object) {
	t.Helper()
	Object(t, c, obj, func() error { return nil })
}

// Object waits until the object exists and check, which finds its current
// state in obj, returns nil.
func Object(t testing.TB, c client.Client, obj client.Object, check func() error) {
	t.Helper()
	err := Until(t.Context(), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		return check()
	})
	if err != nil {
		t.Fatalf("%s: not as expected within %s: %v", describe(c, obj), Timeout, err)
	}
}

// Invalid fails the test unless err is a refusal that names the field and contains
// the message.
func Invalid(t testing.TB, err error, path, message string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), message) {
		t.Errorf("expected a refusal as Invalid with %q at %s, got %v", message, path, err)
	}
}

// describe names the object for a failure message.
func describe(c client.Client, obj client.Object) string {
	kind := fmt.Sprintf("%T", obj)
	if gvk, err := c.GroupVersionKindFor(obj); err == nil {
		kind = gvk.Kind
	}
	return fmt.Sprintf("%s %s", kind, client.ObjectKeyFromObject(obj))
}
