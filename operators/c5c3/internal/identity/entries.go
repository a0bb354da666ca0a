package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/services"

	"github.com/c5c3/forge/internal/common/ask"
)

// Entries are a service and its endpoints in the catalog of Keystone.
type Entries struct {
	Type, Name string
	// Endpoints have neither an ID nor a ServiceID.
	Endpoints []Endpoint
}

// EntryIDs are the ids of [Entries], "" for one that does not exist. Endpoints has one id for
// each of the endpoints, in the same order.
type EntryIDs struct {
	Service   string
	Endpoints []string
}

// FindEntries returns the entries that Keystone at a URL already has in a region. K-ORC
// adopts those without saying so. An endpoint without a region counts if it has the URL.
// [ask.Accepted] means that Keystone has answered. The error never holds the password.
type FindEntries func(
	ctx context.Context, authURL, adminPassword, region string, wanted Entries,
) (EntryIDs, ask.Verdict, error)

// FindEntries is a [FindEntries].
func (a *Administrator) FindEntries(
	ctx context.Context, authURL, adminPassword, region string, wanted Entries,
) (EntryIDs, ask.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	found := EntryIDs{Endpoints: make([]string, len(wanted.Endpoints))}
	identity, _, err := a.logIn(ctx, authURL, adminPassword)
	if err != nil {
		return found, ask.Unproven, err
	}
	page, err := services.List(identity, services.ListOpts{ServiceType: wanted.Type, Name: wanted.Name}).AllPages(ctx)
	if err != nil {
		verdict, err := refused("listing the services of type", wanted.Type, err)
		return found, verdict, err
	}
	existing, err := services.ExtractServices(page)
	switch {
	case err != nil:
		return found, ask.Unproven, fmt.Errorf("reading the services of type %s: %w", wanted.Type, err)
	case len(existing) == 0:
		return found, ask.Accepted, nil
	}
	found.Service = existing[0].ID
	all, err := endpointsOf(ctx, identity, found.Service)
	if err != nil {
		verdict, err := refused("listing the endpoints of service", found.Service, err)
		return found, verdict, err
	}
	for n, endpoint := range wanted.Endpoints {
		at := slices.IndexFunc(all, func(e inCatalog) bool {
			return e.Interface == endpoint.Interface && (e.RegionID == region || e.RegionID == "" && e.URL == endpoint.URL)
		})
		if at >= 0 {
			found.Endpoints[n] = all[at].ID
		}
	}
	return found, ask.Accepted, nil
}

// endpointsOf returns all endpoints of a service, in all regions.
func endpointsOf(ctx context.Context, identity *gophercloud.ServiceClient, service string) ([]inCatalog, error) {
	page, err := endpoints.List(identity, endpoints.ListOpts{ServiceID: service}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Endpoints []inCatalog `json:"endpoints"`
	}
	// The type of the library has the region of API version 2.
	typed, ok := page.(endpoints.EndpointPage)
	if !ok {
		return nil, errors.New("Keystone has answered with something else than endpoints") //nolint:staticcheck // It begins with a name.
	}
	if err := typed.ExtractInto(&list); err != nil {
		return nil, err
	}
	return list.Endpoints, nil
}

// Entry is a service or an endpoint in the catalog of Keystone.
type Entry struct {
	ID        string
	IsService bool
}

// RemoveEntry removes an entry from the catalog of Keystone at a URL. A service that still has
// endpoints stays, and so does an endpoint of another region: others use it. It is no error
// if the entry is gone. The error never holds the password.
type RemoveEntry func(ctx context.Context, authURL, adminPassword, region string, entry Entry) error

// RemoveEntry is a [RemoveEntry].
func (a *Administrator) RemoveEntry(ctx context.Context, authURL, adminPassword, region string, entry Entry) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	identity, _, err := a.logIn(ctx, authURL, adminPassword)
	switch {
	case err != nil:
		return err
	case entry.IsService:
		return removeService(ctx, identity, entry.ID)
	}
	found, err := endpointWith(ctx, identity, entry.ID)
	switch {
	case err != nil:
		return unlessGone("reading the endpoint", entry.ID, err)
	case found.RegionID != "" && found.RegionID != region:
		return nil
	}
	return unlessGone("deleting the endpoint", entry.ID, endpoints.Delete(ctx, identity, entry.ID).Err)
}

// removeService keeps a service with endpoints: Keystone deletes those with it.
func removeService(ctx context.Context, identity *gophercloud.ServiceClient, id string) error {
	left, err := endpointsOf(ctx, identity, id)
	switch {
	case err != nil:
		return unlessGone("listing the endpoints of service", id, err)
	case len(left) > 0:
		return nil
	}
	return unlessGone("deleting the service", id, services.Delete(ctx, identity, id).Err)
}

// unlessGone says what failed, nothing if Keystone does not have the entry.
func unlessGone(doing, id string, err error) error {
	if err == nil || isUnknown(err, id) {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, id, plain(err))
}
