package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// ReconcileCatalog ensures the services' entries in the catalog. K-ORC adopts what
// Keystone's own bootstrap has registered.
func (all List) ReconcileCatalog(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil {
		return pass.NoKeystone()
	}
	removed, err := all.removeEntries(ctx, s)
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonEndpointError, err)
	}
	var failed, waiting, registered []string
	again := removed.again
	entries := all.catalogEntries(s)
	held, why := all.recordMissing(ctx, s, entries)
	for n := range entries {
		entry := &entries[n]
		if slices.Contains(held, entry.of) {
			continue
		}
		wait, err := ensureEntry(ctx, s, entry)
		if err != nil {
			return reconcile.WriteFailed(entry.failed, err)
		}
		again = reconcile.Sooner(again, wait)
		switch {
		case korc.StateOf(entry.object).Failed:
			failed = append(failed, korc.Describe(entry.object)+findAmbiguous(s, *entry))
		case !entry.isEntered():
			waiting = append(waiting, korc.Describe(entry.object))
		}
		// The interfaces of a service may have the same URL.
		if entry.registers != "" && !slices.Contains(registered, entry.registers) {
			registered = append(registered, entry.registers)
		}
	}
	switch {
	case len(failed) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCatalogFailed,
			"K-ORC has given up: "+strings.Join(failed, ", ")+"; of several entries of one region delete all but one; "+korc.Remedy).After(again)
	case why != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonEndpointError, why)
	case len(waiting) > 0:
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCatalog, "Waiting for "+strings.Join(waiting, ", "))
	}
	if err := checkEndpoints(s, entries); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonEndpointRegionError, err)
	}
	recordIDs(s.CP, entries)
	if len(removed.waiting) > 0 {
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCatalog,
			"Removing from the catalog what belongs to a service that is gone: "+strings.Join(removed.waiting, ", ")).After(again)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonCatalogRegistered,
		"The catalog has "+strings.Join(registered, ", ")+removed.keeps()).After(s.Proofs.Due())
}

// checkEndpoints has the endpoints compared with what Keystone has, and corrected, in the
// background. Until they are as wanted, clients do not find them, and there is an error.
func checkEndpoints(s *pass.Pass, entries []catalogEntry) error {
	wanted := endpointsOf(entries)
	set, at, region := s.SetEndpoints, controlplane.AuthURL(s.CP), s.CP.Spec.Region
	look, admin := pass.AdminCredential.Value(s.Slots), pass.AdminPassword.Value(s.Slots)
	verdict, err := s.Proofs.Settled(s.NamespacedName, identity.Task{
		Subject: "region", Key: identity.Digest(region, fmt.Sprint(wanted)), Password: admin, FirstWait: s.RetryPeriod,
		WasDone: meta.IsStatusConditionTrue(s.CP.Status.Conditions, c5c3v1alpha1.ConditionCatalogReady),
		Do:      func(ctx context.Context) (ask.Verdict, error) { return set(ctx, at, look, admin, region, wanted) },
	})
	switch {
	case verdict == ask.Accepted:
		return nil
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForCatalog,
			"Asking Keystone to move the endpoints to region "+region).After(identity.Timeout)
	}
	remedy := reach(s, err)
	var elsewhere *identity.ElsewhereError
	switch {
	case errors.As(err, &elsewhere):
		remedy = findElsewhere(s, entries, elsewhere.ID)
	case verdict == ask.Rejected:
		remedy = "allow the administrator to change endpoints and regions, or delete the K-ORC Endpoint whose endpoint is gone"
	}
	return reconcile.WaitError("", fmt.Sprintf(
		"Not all endpoints are known to be in region %s: %v; %s", region, err, remedy)).After(s.RetryPeriod)
}
