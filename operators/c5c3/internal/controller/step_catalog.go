package controller

import (
	"context"
	"strings"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// reconcileCatalog keeps Keystone's entry in the service catalog. What
// Keystone's own bootstrap has entered is taken over by K-ORC.
func reconcileCatalog(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil {
		return noKeystone()
	}
	since := s.failingSince(c5c3v1alpha1.ConditionCatalogReady)
	service, endpoint := identityService(s.cp), identityEndpoint(s.cluster, s.cp)
	wait, err := s.ensureORC(ctx, service, since)
	if err != nil {
		return writeError(c5c3v1alpha1.ReasonServiceError, err)
	}
	s.lookAgain(wait)
	wait, err = s.ensureORC(ctx, endpoint, since)
	if err != nil {
		return writeError(c5c3v1alpha1.ReasonEndpointError, err)
	}
	s.lookAgain(wait)
	var failed, waiting []string
	for _, obj := range []orcObject{service, endpoint} {
		switch state := stateOf(obj); {
		case state.failed:
			failed = append(failed, describe(obj))
		case !state.available || !obj.GetDeletionTimestamp().IsZero():
			waiting = append(waiting, describe(obj))
		}
	}
	switch {
	case len(failed) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCatalogFailed,
			"K-ORC has given up: "+strings.Join(failed, ", ")+"; of several entries delete all but one; "+korcRemedy).After(s.again)
	case len(waiting) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCatalog, "Waiting for "+strings.Join(waiting, ", "))
	}
	return reconcile.Done(c5c3v1alpha1.ReasonCatalogRegistered, "The catalog has Keystone at "+endpoint.Spec.Resource.URL)
}
