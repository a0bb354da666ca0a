package identity

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/regions"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/services"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/c5c3/forge/internal/common/ask"
)

// Endpoint is an endpoint as a control plane wants it in the catalog of Keystone.
type Endpoint struct {
	// ID is the one that Keystone gave it, and ServiceID that of its service, "" if unknown.
	ID, ServiceID string
	// Interface is "public", "internal" or "admin".
	Interface, URL string
}

// SetEndpoints makes sure that the catalog of Keystone at a URL has the endpoints as wanted:
// enabled, as those of a service that is enabled, and in a region. It looks with an
// application credential, and uses the administrator's password only if something differs or
// the credential does not work. It creates the region if there is none. [ask.Accepted] means
// that all are so, [ask.Rejected] that Keystone refuses that or has no such endpoint. The error
// says what is wrong, and is an [ElsewhereError] for an endpoint of another region; it never holds
// a secret.
type SetEndpoints func(
	ctx context.Context, authURL string, look Credential, adminPassword, region string, wanted []Endpoint,
) (ask.Verdict, error)

// FindEndpoint returns the id of the endpoint of a service in a region with an interface,
// and creates it if there is none. The verdict and the error are those of [SetEndpoints].
type FindEndpoint func(
	ctx context.Context, authURL, adminPassword, region string, wanted Endpoint,
) (id string, verdict ask.Verdict, err error)

// ElsewhereError is the error for an endpoint that is in another region. It belongs to that
// region: clients there would lose it.
type ElsewhereError struct{ ID, Region string }

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the endpoint %s is that of region %s", e.ID, e.Region)
}

// SetEndpoints is a [SetEndpoints]. K-ORC knows no regions, and does not look again at what
// it has completed.
func (a *Administrator) SetEndpoints(
	ctx context.Context, authURL string, look Credential, adminPassword, region string, wanted []Endpoint,
) (ask.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	switch inside, err := look.sees(ctx, authURL, region, wanted); {
	case err != nil:
		return ask.Unproven, err
	case inside:
		return ask.Accepted, nil
	}
	identity, _, err := a.logIn(ctx, authURL, adminPassword)
	if err != nil {
		return ask.Unproven, err
	}
	var enabled []string
	for _, endpoint := range wanted {
		if verdict, err := repairEndpoint(ctx, identity, endpoint, region); err != nil {
			return verdict, err
		}
		if endpoint.ServiceID == "" || slices.Contains(enabled, endpoint.ServiceID) {
			continue
		}
		if verdict, err := enableService(ctx, identity, endpoint.ServiceID); err != nil {
			return verdict, err
		}
		enabled = append(enabled, endpoint.ServiceID)
	}
	return ask.Accepted, nil
}

// sees reports whether the catalog in a token of the credential has all the endpoints as
// wanted. Keystone may cache the catalog of a user, so that false says nothing for sure. It
// leaves out what is not enabled.
func (c Credential) sees(ctx context.Context, authURL, region string, wanted []Endpoint) (bool, error) {
	if c.ID == "" {
		return false, nil
	}
	created, verdict, err := c.token(ctx, authURL)
	if verdict != ask.Accepted {
		return false, err
	}
	catalog, err := created.ExtractServiceCatalog()
	if err != nil {
		return false, fmt.Errorf("reading the catalog in a token of Keystone: %w", err)
	}
	found := map[string]tokens.Endpoint{}
	for _, entry := range catalog.Entries {
		for _, endpoint := range entry.Endpoints {
			found[endpoint.ID] = endpoint
		}
	}
	return !slices.ContainsFunc(wanted, func(e Endpoint) bool {
		seen := found[e.ID]
		return seen.ID == "" || seen.RegionID != region || seen.URL != e.URL || seen.Interface != e.Interface
	}), nil
}

// inCatalog is what Keystone says about an endpoint. The library's own type has the region
// of API version 2.
type inCatalog struct {
	ID        string `json:"id"`
	Interface string `json:"interface"`
	URL       string `json:"url"`
	RegionID  string `json:"region_id"`
	Enabled   bool   `json:"enabled"`
}

// endpointWith reads the endpoint with an id.
func endpointWith(ctx context.Context, identity *gophercloud.ServiceClient, id string) (inCatalog, error) {
	var answer struct {
		Endpoint inCatalog `json:"endpoint"`
	}
	err := endpoints.Get(ctx, identity, id).ExtractInto(&answer)
	return answer.Endpoint, err
}

// repairEndpoint reads the endpoint first: an update that changes nothing would be one in
// Keystone's audit log, too.
func repairEndpoint(ctx context.Context, identity *gophercloud.ServiceClient, wanted Endpoint, region string) (ask.Verdict, error) {
	found, err := endpointWith(ctx, identity, wanted.ID)
	if err != nil {
		return refused("reading the endpoint", wanted.ID, err)
	}
	if found.RegionID != "" && found.RegionID != region {
		return ask.Rejected, &ElsewhereError{wanted.ID, found.RegionID}
	}
	changes := endpointFields{}
	for name, differs := range map[string]bool{
		"region_id": found.RegionID != region, "url": found.URL != wanted.URL,
		"interface": found.Interface != wanted.Interface, "enabled": !found.Enabled,
	} {
		if differs {
			changes[name] = wanted.fields(region)[name]
		}
	}
	if len(changes) == 0 {
		return ask.Accepted, nil
	}
	return inRegion(ctx, identity, region, "correcting the endpoint", wanted.ID, func() error {
		return endpoints.Update(ctx, identity, wanted.ID, changes).Err
	})
}

// inRegion repeats what Keystone refuses because it has no such region, once that exists.
// Bootstrap creates the region, but a user may have deleted it.
func inRegion(
	ctx context.Context, identity *gophercloud.ServiceClient, region, doing, id string, do func() error,
) (ask.Verdict, error) {
	err := do()
	if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
		created := regions.Create(ctx, identity, regions.CreateOpts{ID: region}).Err
		if created != nil && !gophercloud.ResponseCodeIs(created, http.StatusConflict) {
			return refused("creating the region", region, created)
		}
		err = do()
	}
	if err != nil {
		return refused(doing, id, err)
	}
	return ask.Accepted, nil
}

func (e Endpoint) fields(region string) endpointFields {
	return endpointFields{"region_id": region, "url": e.URL, "interface": e.Interface, "enabled": true}
}

// endpointFields are the fields of a request. Those of the library have the name of the
// region in API version 2.
type endpointFields map[string]any

// ToEndpointUpdateMap returns the body of the request.
func (f endpointFields) ToEndpointUpdateMap() (map[string]any, error) {
	return map[string]any{"endpoint": f}, nil
}

// ToEndpointCreateMap returns the body of the request.
func (f endpointFields) ToEndpointCreateMap() (map[string]any, error) {
	return map[string]any{"endpoint": f}, nil
}

// enableService enables a service: the catalog leaves out the endpoints of one that is not.
func enableService(ctx context.Context, identity *gophercloud.ServiceClient, id string) (ask.Verdict, error) {
	found, err := services.Get(ctx, identity, id).Extract()
	if err != nil {
		return refused("reading the service", id, err)
	}
	if found.Enabled {
		return ask.Accepted, nil
	}
	if err := services.Update(ctx, identity, id, services.UpdateOpts{Enabled: new(true)}).Err; err != nil {
		return refused("enabling the service", id, err)
	}
	return ask.Accepted, nil
}

// FindEndpoint is a [FindEndpoint]. K-ORC finds an endpoint by its URL alone, which those of
// several regions may have in common.
func (a *Administrator) FindEndpoint(
	ctx context.Context, authURL, adminPassword, region string, wanted Endpoint,
) (string, ask.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	identity, _, err := a.logIn(ctx, authURL, adminPassword)
	if err != nil {
		return "", ask.Unproven, err
	}
	page, err := endpoints.List(identity, endpoints.ListOpts{
		ServiceID: wanted.ServiceID, RegionID: region, Availability: gophercloud.Availability(wanted.Interface),
	}).AllPages(ctx)
	if err != nil {
		verdict, err := refused("listing the endpoints of service", wanted.ServiceID, err)
		return "", verdict, err
	}
	found, err := endpoints.ExtractEndpoints(page)
	switch {
	case err != nil:
		return "", ask.Unproven, fmt.Errorf("reading the endpoints of service %s: %w", wanted.ServiceID, err)
	case len(found) > 1:
		return "", ask.Rejected, fmt.Errorf("region %s has %d %s endpoints of service %s: delete all but one",
			region, len(found), wanted.Interface, wanted.ServiceID)
	case len(found) == 1:
		return found[0].ID, ask.Accepted, nil
	}
	fields := wanted.fields(region)
	fields["service_id"] = wanted.ServiceID
	id := ""
	verdict, err := inRegion(ctx, identity, region, "creating an endpoint of service", wanted.ServiceID, func() error {
		created, err := endpoints.Create(ctx, identity, fields).Extract()
		if err == nil {
			id = created.ID
		}
		return err
	})
	return id, verdict, err
}

// refused tells a Keystone that refuses a request about something with an id from one
// that cannot answer it now.
func refused(doing, id string, err error) (ask.Verdict, error) {
	verdict := ask.Unproven
	if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) || gophercloud.ResponseCodeIs(err, http.StatusForbidden) ||
		gophercloud.ResponseCodeIs(err, http.StatusConflict) || isUnknown(err, id) {
		verdict = ask.Rejected
	}
	return verdict, fmt.Errorf("%s %s: %w", doing, id, plain(err))
}
