package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Which entries of the catalog a control plane has made is recorded in its status, because
// only those may be removed. K-ORC does not say whether it has created a resource or adopted
// one. So Keystone is asked before the object of an entry is created, and the object is
// created by a pass that has found the record in the status. The entries of the Identity
// service are not recorded: bootstrap makes them, and they belong to the database.

// recordMissing records the entries that K-ORC is about to make. It returns the services
// whose missing entries must not be created in this pass, and why.
func (all List) recordMissing(ctx context.Context, s *pass.Pass, entries []catalogEntry) (held []string, why error) {
	for _, svc := range all[1:].wantedBy(s.CP) {
		missing, err := missingEntries(ctx, s, svc, entries)
		if err != nil {
			held, why = append(held, svc.name), err
			continue
		}
		if len(missing) == 0 {
			// If an object is deleted later, Keystone is asked again.
			s.Proofs.Drop(s.NamespacedName, entriesOf(svc))
			continue
		}
		if err := svc.askForEntries(s, entries); err != nil {
			held, why = append(held, svc.name), err
			continue
		}
		for _, name := range missing {
			if record(s, name, s.Proofs.ID(s.NamespacedName, foundEntry(name))) {
				held, why = append(held, svc.name), reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForCatalog,
					"Recording the entries of "+svc.Kind.Kind)
			}
		}
	}
	return held, why
}

// missingEntries returns the names of the service's objects that do not exist.
func missingEntries(ctx context.Context, s *pass.Pass, svc Service, entries []catalogEntry) ([]string, error) {
	var missing []string
	for _, entry := range entries {
		if entry.of != svc.name {
			continue
		}
		key := client.ObjectKeyFromObject(entry.object)
		found, err := apply.Find(ctx, s.ThirdParty, key, apply.Copy(entry.object))
		switch {
		case err != nil:
			return nil, err
		case found == nil:
			missing = append(missing, key.Name)
		}
	}
	return missing, nil
}

// entriesOf is what Keystone is asked about a service, and foundEntry what its answer about
// an object is kept under.
func entriesOf(svc Service) string { return "entries of " + svc.name }

func foundEntry(object string) string { return "found " + object }

// askForEntries has Keystone asked in the background which entries of the service it has. The
// answer is kept by the names of the objects.
func (svc Service) askForEntries(s *pass.Pass, entries []catalogEntry) error {
	wanted, names := identity.Entries{Type: svc.catalogType, Name: svc.name}, []string{}
	for _, entry := range entries {
		if entry.of == svc.name && entry.service != nil {
			wanted.Endpoints, names = append(wanted.Endpoints, entry.wanted), append(names, entry.object.GetName())
		}
	}
	look, at, region, admin := s.FindEntries, controlplane.AuthURL(s.CP), s.CP.Spec.Region, pass.AdminPassword.Value(s.Slots)
	proofs, of, service := s.Proofs, s.NamespacedName, s.CP.CatalogServiceName(svc.catalogType)
	verdict, err := proofs.Settled(of, identity.Task{
		Subject: entriesOf(svc), Key: identity.Digest(entriesOf(svc)+" "+region, fmt.Sprint(wanted)), Password: admin, FirstWait: s.RetryPeriod,
		Do: func(ctx context.Context) (ask.Verdict, error) {
			found, verdict, err := look(ctx, at, admin, region, wanted)
			if verdict == ask.Accepted {
				proofs.SetID(of, foundEntry(service), found.Service)
				for n, name := range names {
					proofs.SetID(of, foundEntry(name), found.Endpoints[n])
				}
			}
			return verdict, err
		},
	})
	switch {
	case verdict == ask.Accepted:
		return nil
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForCatalog,
			"Asking Keystone whether it has entries of "+svc.Kind.Kind).After(identity.Timeout)
	}
	remedy := reach(s, err)
	if verdict == ask.Rejected {
		remedy = "allow the administrator to list services and endpoints"
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForCatalog, fmt.Sprintf(
		"It is not known whether Keystone has entries of %s: %v; %s", svc.Kind.Kind, err, remedy)).After(s.RetryPeriod)
}

// record records an entry that Keystone does not have, and reports whether that is new. An
// entry that it has is only the control plane's own if it was recorded, and has not been
// replaced by another one since. found is its id, "" for none.
func record(s *pass.Pass, object, found string) (added bool) {
	entries := &s.CP.Status.CatalogEntries
	known := recorded(s.CP, object)
	switch {
	case found == "" && known < 0:
		*entries = append(*entries, c5c3v1alpha1.CatalogEntryStatus{ObjectName: object})
		return true
	case found == "":
		(*entries)[known].ID = ""
	case known >= 0 && (*entries)[known].ID != "" && (*entries)[known].ID != found:
		*entries = slices.Delete(*entries, known, known+1)
	}
	return false
}

// recorded returns the index of the record of an object, negative for none.
func recorded(cp *c5c3v1alpha1.ControlPlane, object string) int {
	return slices.IndexFunc(cp.Status.CatalogEntries, func(entry c5c3v1alpha1.CatalogEntryStatus) bool { return entry.ObjectName == object })
}

// recordIDs completes the records of entries that are in the catalog as wanted. Until then
// K-ORC may have adopted the endpoint of another region.
func recordIDs(cp *c5c3v1alpha1.ControlPlane, entries []catalogEntry) {
	for _, entry := range entries {
		if known := recorded(cp, entry.object.GetName()); known >= 0 {
			cp.Status.CatalogEntries[known].ID = korc.ID(entry.object)
		}
	}
}

// removal is what has become of the entries of services that are gone.
type removal struct {
	// waiting describes those that are being removed, kept those that the control plane has
	// not made.
	waiting, kept []string
	again         time.Duration
}

// removeEntries removes the entries that the control plane has made of services that are
// gone.
func (all List) removeEntries(ctx context.Context, s *pass.Pass) (removal, error) {
	var done removal
	for _, svc := range all[1:] {
		if svc.wanted(s.CP) || !s.Kinds.Served(svc.Kind) {
			continue
		}
		switch child, err := svc.find(ctx, s); {
		case err != nil:
			return done, err
		case child != nil && child.GetDeletionTimestamp().IsZero():
			continue
		}
		if err := svc.removeEntries(ctx, s, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

func (svc Service) removeEntries(ctx context.Context, s *pass.Pass, done *removal) error {
	endpoints := 0
	for _, obj := range svc.catalogObjects(s.CP) {
		live, err := apply.Find(ctx, s.ThirdParty, client.ObjectKeyFromObject(obj), obj)
		if err != nil {
			return err
		}
		known, isService := recorded(s.CP, obj.GetName()), obj.GetName() == s.CP.CatalogServiceName(svc.catalogType)
		ours := live != nil && metav1.IsControlledBy(live, s.CP)
		switch {
		case known < 0 && ours && live.GetDeletionTimestamp().IsZero():
			done.kept = append(done.kept, korc.KindName(live)+" "+live.GetName())
		case known < 0:
		case isService && endpoints > 0:
			// A service that still has endpoints would be kept.
			done.waiting = append(done.waiting, obj.GetName())
		default:
			if !ours {
				live = nil
			}
			removed, err := svc.removeEntry(ctx, s, live, known, isService, done)
			if err != nil {
				return err
			}
			if !removed {
				endpoints++
			}
		}
	}
	return nil
}

// removeEntry removes an entry from Keystone, then its object, if there is one, and its
// record.
func (svc Service) removeEntry(
	ctx context.Context, s *pass.Pass, live korc.Object, known int, isService bool, done *removal,
) (removed bool, err error) {
	entry := s.CP.Status.CatalogEntries[known]
	id := entry.ID
	if live != nil && korc.ID(live) != "" {
		id = korc.ID(live)
	}
	if id != "" {
		region, remove := s.CP.Spec.Region, s.RemoveEntry
		err := korc.RevokeWith(ctx, s, func(ctx context.Context, at, password, id string) error {
			return remove(ctx, at, password, region, identity.Entry{ID: id, IsService: isService})
		}, id)
		switch {
		case errors.Is(err, identity.ErrAsking):
			done.waiting = append(done.waiting, entry.ObjectName)
			return false, nil
		case err != nil:
			done.waiting = append(done.waiting, fmt.Sprintf("%s (%v)", entry.ObjectName, err))
			done.again = reconcile.Sooner(done.again, s.RetryPeriod)
			return false, nil
		}
	}
	if live != nil {
		if err := korc.RemoveWithResource(ctx, s, live); err != nil {
			return false, err
		}
	}
	s.CP.Status.CatalogEntries = slices.Delete(s.CP.Status.CatalogEntries, known, known+1)
	return true, nil
}

// keeps says which entries stay.
func (r removal) keeps() string {
	if len(r.kept) == 0 {
		return ""
	}
	return fmt.Sprintf("; it keeps %s, which this ControlPlane has not made: "+
		"if nothing needs an entry, delete it in Keystone and then its K-ORC object",
		strings.Join(r.kept, ", "))
}
