package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// reconcileCatalog keeps the entries of the services in the catalog. What
// Keystone's own bootstrap has entered is taken over by K-ORC.
func (all serviceList) reconcileCatalog(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil {
		return noKeystone()
	}
	var failed, waiting, registered []string
	var again time.Duration
	entries := all.catalogEntries(s)
	for _, entry := range entries {
		wait, err := s.ensureORC(ctx, entry.object, s.failingSince(c5c3v1alpha1.ConditionCatalogReady))
		if err != nil {
			return reconcile.WriteFailed(entry.failed, err)
		}
		again = sooner(again, wait)
		switch {
		case stateOf(entry.object).failed:
			failed = append(failed, describe(entry.object))
		case !entry.isEntered():
			waiting = append(waiting, describe(entry.object))
		}
		if entry.registers != "" {
			registered = append(registered, entry.registers)
		}
	}
	switch {
	case len(failed) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCatalogFailed,
			"K-ORC has given up: "+strings.Join(failed, ", ")+"; of several entries delete all but one; "+korcRemedy).After(again)
	case len(waiting) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCatalog, "Waiting for "+strings.Join(waiting, ", "))
	}
	return s.placeEndpoints(entries, reconcile.Done(c5c3v1alpha1.ReasonCatalogRegistered, "The catalog has "+strings.Join(registered, ", ")))
}

// placeEndpoints has the endpoints put into the region of the control plane, in the
// background. Until they are in it, clients that ask for the region do not find them.
func (s *scope) placeEndpoints(entries []catalogEntry, done reconcile.Outcome) reconcile.Outcome {
	ids := endpointIDs(entries)
	set, at, admin, region := s.setRegion, authURL(s.cp), adminPassword.Value(s.Slots), s.cp.Spec.Region
	verdict, err := s.proofs.settled(s.name(), digest(region, strings.Join(ids, " ")), func(ctx context.Context) (Verdict, error) {
		return set(ctx, at, admin, region, ids)
	})
	asking := errors.Is(err, errAsking)
	switch {
	case verdict == Accepted, asking && meta.IsStatusConditionTrue(s.cp.Status.Conditions, c5c3v1alpha1.ConditionCatalogReady):
		// That the operator was restarted is no news about the catalog.
		return done.After(s.proofs.due())
	case asking:
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCatalog,
			"Keystone is being asked to put the endpoints into region "+region).After(identityTimeout)
	}
	remedy := fmt.Sprintf("let the operator reach %s as the administrator", at)
	if verdict == Rejected {
		remedy = "allow the administrator to change endpoints and regions, or delete the K-ORC Endpoint whose endpoint is gone"
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonEndpointRegionError, fmt.Sprintf(
		"Not all endpoints are known to be in region %s: %v; %s", region, err, remedy)).After(s.proofs.pause)
}

// endpointIDs are the ids that Keystone gave to the endpoints.
func endpointIDs(entries []catalogEntry) []string {
	var ids []string
	for _, entry := range entries {
		if endpoint, ok := entry.object.(*orcv1alpha1.Endpoint); ok {
			ids = append(ids, ptr.Deref(endpoint.Status.ID, ""))
		}
	}
	return ids
}

// catalogEntry is an object of K-ORC, with the reason when it cannot be written,
// and what it enters.
type catalogEntry struct {
	object            orcObject
	failed, registers string
}

// isEntered reports whether Keystone has the entry as the object asks.
func (e catalogEntry) isEntered() bool {
	endpoint, isEndpoint := e.object.(*orcv1alpha1.Endpoint)
	return stateOf(e.object).available && e.object.GetDeletionTimestamp().IsZero() && (!isEndpoint || endpoint.Status.ID != nil)
}

// catalogEntries are those of the services that the control plane has, a service
// before its endpoints.
func (all serviceList) catalogEntries(s *scope) []catalogEntry {
	var entries []catalogEntry
	for _, svc := range all.wantedBy(s.cp) {
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
