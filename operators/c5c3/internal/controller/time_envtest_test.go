//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// What no test outlives by itself: a test that wants one of these to be over lets
// it pass.
const (
	// stall bounds the operator's waits for K-ORC.
	stall = time.Hour
	// day is how long a day of a CredentialRotation lasts here.
	day = 10 * time.Hour
	// spread is at least how long what was replaced works on.
	spread = time.Minute
	// proofPeriod is at least how often Keystone is asked again about a credential.
	proofPeriod = 15 * time.Minute
)

// clocks are how far ahead the clocks of namespaces are.
var clocks = struct {
	mu    sync.Mutex
	ahead map[string]time.Duration
}{ahead: map[string]time.Duration{}}

// ahead is the operator's [controller.Options.Ahead].
func ahead(namespace string) time.Duration {
	clocks.mu.Lock()
	defer clocks.mu.Unlock()
	return clocks.ahead[namespace]
}

// pass lets time pass for the operator in this world alone, and has it look at the
// control plane then: its own timers know nothing of that.
func (w *world) pass(t *testing.T, d time.Duration) {
	t.Helper()
	clocks.mu.Lock()
	clocks.ahead[w.cp.Namespace] += d
	now := clocks.ahead[w.cp.Namespace]
	clocks.mu.Unlock()
	look := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/later-by":%q}}}`, now)
	err := expect.Until(t.Context(), func(ctx context.Context) error {
		// A deletion may have come to its end meanwhile.
		cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: w.meta(w.cp.Name)}
		return client.IgnoreNotFound(w.Patch(ctx, cp, client.RawPatch(types.MergePatchType, look)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stalls waits until a replacement has begun, and lets the time pass for which it
// may take.
func (w *world) stalls(t *testing.T, changes *expect.Changes) {
	t.Helper()
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "ReMinting")
	w.pass(t, stall)
}

// superseded waits until the time for which a replaced credential works on runs.
func (w *world) superseded(t *testing.T, retained *orcv1alpha1.ApplicationCredential) {
	t.Helper()
	expect.Object(t, w, retained, func() error {
		if retained.Annotations[c5c3v1alpha1.AnnotationSupersededAt] == "" {
			return errors.New("its time has not begun")
		}
		return nil
	})
}
