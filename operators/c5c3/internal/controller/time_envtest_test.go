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

// Periods that exceed the duration of any test; a test that needs one to be over advances
// the clock.
const (
	// stall bounds the operator's waits for K-ORC.
	stall = time.Hour
	// day is the length of a day in a CredentialRotation.
	day = 10 * time.Hour
	// overlap is how long a replaced user stays valid where a test asks for it. The minimum,
	// Tools.SpreadTime of a pass, is over at once.
	overlap = time.Minute
	// proofPeriod is the maximum interval between two verifications of a credential.
	proofPeriod = 15 * time.Minute
)

// clocks holds how far the clocks of namespaces are ahead.
var clocks = struct {
	mu    sync.Mutex
	ahead map[string]time.Duration
}{ahead: map[string]time.Duration{}}

// ahead is [pass.Tools.Ahead] of the operator.
func ahead(namespace string) time.Duration {
	clocks.mu.Lock()
	defer clocks.mu.Unlock()
	return clocks.ahead[namespace]
}

// pass advances the operator's clock for this world only, and then triggers a pass over
// the control plane, because the operator's timers do not follow that clock.
func (w *world) pass(t *testing.T, d time.Duration) {
	t.Helper()
	clocks.mu.Lock()
	clocks.ahead[w.cp.Namespace] += d
	now := clocks.ahead[w.cp.Namespace]
	clocks.mu.Unlock()
	look := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/later-by":%q}}}`, now)
	err := expect.Until(t.Context(), func(ctx context.Context) error {
		// A deletion may have finished in the meantime.
		cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: w.meta(w.cp.Name)}
		return client.IgnoreNotFound(w.Patch(ctx, cp, client.RawPatch(types.MergePatchType, look)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stalls waits until a replacement has begun, and then advances the clock past its time
// limit.
func (w *world) stalls(t *testing.T, changes *expect.Changes) {
	t.Helper()
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "ReMinting")
	w.pass(t, stall)
}

// superseded waits until the overlap of a replaced credential has begun.
func (w *world) superseded(t *testing.T, retained *orcv1alpha1.ApplicationCredential) {
	t.Helper()
	expect.Object(t, w, retained, func() error {
		if retained.Annotations[c5c3v1alpha1.AnnotationSupersededAt] == "" {
			return errors.New("its time has not begun")
		}
		return nil
	})
}
