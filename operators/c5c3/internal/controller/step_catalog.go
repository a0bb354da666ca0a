package controller

import (
	"context"
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// reconcileCatalog keeps the entries of the services in the catalog. What
// Keystone's own bootstrap has entered is taken over by K-ORC.
func reconcileCatalog(ctx context.Context, s *scope) reconcile.Outcome {
	if !s.services.identity().wanted(s.cp) {
		return noKeystone()
	}
	var failed, waiting, registered []string
	for _, entry := range s.catalogEntries() {
		wait, err := s.ensureORC(ctx, entry.object, s.failingSince(c5c3v1alpha1.ConditionCatalogReady))
		if err != nil {
			return reconcile.WriteFailed(entry.failed, err)
		}
		s.lookAgain(wait)
		switch state := stateOf(entry.object); {
		case state.failed:
			failed = append(failed, describe(entry.object))
		case !state.available || !entry.object.GetDeletionTimestamp().IsZero():
			waiting = append(waiting, describe(entry.object))
		}
		if entry.registers != "" {
			registered = append(registered, entry.registers)
		}
	}
	switch {
	case len(failed) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCatalogFailed,
			"K-ORC has given up: "+strings.Join(failed, ", ")+"; of several entries delete all but one; "+korcRemedy).After(s.again)
	case len(waiting) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCatalog, "Waiting for "+strings.Join(waiting, ", "))
	}
	return reconcile.Done(c5c3v1alpha1.ReasonCatalogRegistered, "The catalog has "+strings.Join(registered, ", "))
}

// catalogEntry is an object of K-ORC, with the reason when it cannot be written,
// and what it enters.
type catalogEntry struct {
	object            orcObject
	failed, registers string
}

// catalogEntries are those of the services that the control plane has, a service
// before its endpoints.
func (s *scope) catalogEntries() []catalogEntry {
	var entries []catalogEntry
	for _, svc := range s.services.wantedBy(s.cp) {
		entries = append(entries, catalogEntry{object: svc.catalogService(s.cp), failed: c5c3v1alpha1.ReasonServiceError})
		for _, at := range svc.endpoints {
			object := svc.catalogEndpoint(at, s.cluster, s.cp)
			entries = append(entries, catalogEntry{
				object: object, failed: c5c3v1alpha1.ReasonEndpointError,
				registers: fmt.Sprintf("%s at %s", svc.kind.Kind, object.Spec.Resource.URL),
			})
		}
	}
	return entries
}
