// Package teardown removes a control plane from Keystone and from the secret store.
package teardown

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// Finalizer protects what K-ORC has created in Keystone, and the copy of the application
// credential in the secret store.
const Finalizer = "c5c3.io/orc-teardown"

// Finalize has K-ORC remove what it created while Keystone still answers, and External
// Secrets remove the copy in the store. Garbage collection deletes everything else once
// the finalizer is removed.
func Finalize(ctx context.Context, s *pass.Pass, all services.List) reconcile.Outcome {
	keystoneGone, err := keystoneIsGone(ctx, s, all.Identity())
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	others, err := awaitOthers(ctx, s, keystoneGone)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	outcome := finalize(ctx, s, all, keystoneGone)
	if outcome.IsDone() && len(others) > 0 {
		return outcome.WithEvent(corev1.EventTypeWarning, c5c3v1alpha1.EventORCObjectsInUse, describeAbandoned(s, others))
	}
	return outcome
}

func finalize(ctx context.Context, s *pass.Pass, all services.List, keystoneGone bool) reconcile.Outcome {
	left, err := tearDown(ctx, s, all, keystoneGone)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	waiting := left.describe()
	var given abandoned
	switch {
	case len(waiting) > 0:
		given, err = giveUp(ctx, s, left, waiting)
	case korc.MissingKind(s) != "":
		given, err = withoutKORC(ctx, s, left.keystoneGone)
	}
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	case len(given.objects) > 0:
		return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "The deletion continues without K-ORC").
			WithEvent(corev1.EventTypeWarning, c5c3v1alpha1.EventORCTeardownStalled, fmt.Sprintf(
				"%s: %s; delete what is left there by hand, in OpenStack or in the secret store", given.why, strings.Join(given.objects, ", ")))
	}
	return reconcile.Done(c5c3v1alpha1.ReasonFinalizingORC, "What K-ORC created is gone").
		WithNormalEvent(c5c3v1alpha1.EventORCTeardownComplete, "What K-ORC created in Keystone, and its copy in the secret store, is gone")
}
