//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// The clock of the crashing operators is after the due time of the first credential and
// before that of the second. K-ORC seems to take that much longer.
func TestAnOperatorKilledDuringAScheduledRotationMakesOneCredentialAndLeavesNoGap(t *testing.T) {
	t.Parallel()
	const late = 30 * time.Hour
	k := rotations(c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(1))}, c5c3v1alpha1.RotationScheduled)
	punctual := conformance.Trial[*c5c3v1alpha1.CredentialRotation]{Kind: k, World: &conform}
	k.Program = impatient(&c5c3v1alpha1.ControlPlane{}, "controlplane", func(t *pass.Tools) {
		t.Clock, t.StallTimeout = func() time.Time { return time.Now().Add(late) }, late+pass.DefaultStallTimeout
	})
	settled := k.Settled
	k.Settled = func(ctx context.Context, namespace string) error {
		rotation := k.New(namespace)
		if err := conform.Admin.Get(ctx, client.ObjectKeyFromObject(rotation), rotation); err != nil {
			return err
		}
		if next := rotation.Status.NextRotation; next == nil || !next.After(time.Now().Add(late)) {
			return errors.Join(lookForLockout(ctx, namespace), fmt.Errorf("the rotation is not done: %+v", rotation.Status))
		}
		return settled(ctx, namespace)
	}
	way := conformance.Trial[*c5c3v1alpha1.CredentialRotation]{Kind: k, World: &conform}.Way()
	way.Prepare, way.Long = punctual.Newcomer, true
	withoutBreach(t)
	crashwalk.Walk(t, way)
}
