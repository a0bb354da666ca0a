package identity

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/regions"
)

// SetRegion makes sure that endpoints, by their ids, are in a region of Keystone at a
// URL. It looks with an application credential, and uses the administrator's password
// only when not all are known to be in the region, or the credential does not work. It
// creates the region if there is none. [Accepted] means that all are in it, [Rejected]
// that Keystone refuses that or has no such endpoint. The error says why they are not; it
// never holds a secret.
type SetRegion func(
	ctx context.Context, authURL string, look Credential, adminPassword, region string, endpointIDs []string,
) (Verdict, error)

// SetRegion is a [SetRegion]. K-ORC knows no regions. Bootstrap puts the endpoints that
// it enters itself into the region.
func (a *Administrator) SetRegion(
	ctx context.Context, authURL string, look Credential, adminPassword, region string, endpointIDs []string,
) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	switch inside, err := look.sees(ctx, authURL, region, endpointIDs); {
	case err != nil:
		return Unproven, err
	case inside:
		return Accepted, nil
	}
	identity, _, err := a.logIn(ctx, authURL, adminPassword)
	if err != nil {
		return Unproven, err
	}
	for _, id := range endpointIDs {
		if verdict, err := moveEndpoint(ctx, identity, id, region); err != nil {
			return verdict, err
		}
	}
	return Accepted, nil
}

// sees reports whether the catalog in a token of the credential has all the endpoints in
// the region. Keystone may cache the catalog of a user, and leaves out endpoints that are
// not enabled, so that false says nothing for sure.
func (c Credential) sees(ctx context.Context, authURL, region string, endpointIDs []string) (bool, error) {
	if c.ID == "" {
		return false, nil
	}
	created, verdict, err := c.token(ctx, authURL)
	if verdict != Accepted {
		return false, err
	}
	catalog, err := created.ExtractServiceCatalog()
	if err != nil {
		return false, fmt.Errorf("reading the catalog in a token of Keystone: %w", err)
	}
	regionOf := map[string]string{}
	for _, entry := range catalog.Entries {
		for _, endpoint := range entry.Endpoints {
			regionOf[endpoint.ID] = endpoint.RegionID
		}
	}
	return !slices.ContainsFunc(endpointIDs, func(id string) bool { return regionOf[id] != region }), nil
}

// moveEndpoint reads the endpoint first: an update that changes nothing would be one in
// Keystone's audit log, too.
func moveEndpoint(ctx context.Context, identity *gophercloud.ServiceClient, id, region string) (Verdict, error) {
	var answer struct {
		Endpoint struct {
			RegionID string `json:"region_id"`
		} `json:"endpoint"`
	}
	if err := endpoints.Get(ctx, identity, id).ExtractInto(&answer); err != nil {
		return refused("reading the endpoint", id, err)
	}
	if answer.Endpoint.RegionID == region {
		return Accepted, nil
	}
	err := endpoints.Update(ctx, identity, id, inRegion(region)).Err
	if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
		// Keystone answers this if the region does not exist. Bootstrap creates it, but a
		// user may have deleted it.
		created := regions.Create(ctx, identity, regions.CreateOpts{ID: region}).Err
		if created != nil && !gophercloud.ResponseCodeIs(created, http.StatusConflict) {
			return refused("creating the region", region, created)
		}
		err = endpoints.Update(ctx, identity, id, inRegion(region)).Err
	}
	if err != nil {
		return refused("setting the region of the endpoint", id, err)
	}
	return Accepted, nil
}

// inRegion updates the region of an endpoint. The library's own update uses the field
// name of API version 2.
type inRegion string

// ToEndpointUpdateMap returns the body of the request.
func (r inRegion) ToEndpointUpdateMap() (map[string]any, error) {
	return map[string]any{"endpoint": map[string]any{"region_id": string(r)}}, nil
}

// refused tells a Keystone that refuses a request about something with an id from one
// that cannot answer it now.
func refused(doing, id string, err error) (Verdict, error) {
	verdict := Unproven
	if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) || gophercloud.ResponseCodeIs(err, http.StatusForbidden) ||
		gophercloud.ResponseCodeIs(err, http.StatusConflict) || isUnknown(err, id) {
		verdict = Rejected
	}
	return verdict, fmt.Errorf("%s %s: %w", doing, id, plain(err))
}
