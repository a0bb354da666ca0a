package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/regions"
)

// SetRegion ensures that the endpoints with the IDs are in a region of the Keystone at a
// URL. It uses the administrator's password, and creates the region if there is none.
// [Accepted] means that all are in it, [Rejected] that Keystone refuses the change or has
// no such endpoint. The error says why they are not; it never contains the password.
type SetRegion func(ctx context.Context, authURL, adminPassword, region string, endpointIDs []string) (Verdict, error)

// SetRegionOverHTTP is SetRegion over HTTP. K-ORC does not support regions. Bootstrap
// sets the region of the endpoints that it creates itself.
func SetRegionOverHTTP(ctx context.Context, authURL, adminPassword, region string, endpointIDs []string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	identity, _, err := asAdministrator(ctx, authURL, adminPassword)
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

// moveEndpoint reads the endpoint first: an update without a change would also be
// recorded in Keystone's audit log.
func moveEndpoint(ctx context.Context, identity *gophercloud.ServiceClient, id, region string) (Verdict, error) {
	var answer struct {
		Endpoint struct {
			RegionID string `json:"region_id"`
		} `json:"endpoint"`
	}
	if err := endpoints.Get(ctx, identity, id).ExtractInto(&answer); err != nil {
		return refused("reading the endpoint "+id, err)
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
			return refused("creating the region "+region, created)
		}
		err = endpoints.Update(ctx, identity, id, inRegion(region)).Err
	}
	if err != nil {
		return refused("setting the region of the endpoint "+id, err)
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

// refused distinguishes a rejected request from a Keystone that cannot answer.
func refused(doing string, err error) (Verdict, error) {
	verdict := Unproven
	var answer gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &answer) && answer.Actual >= http.StatusBadRequest && answer.Actual < http.StatusInternalServerError {
		verdict = Rejected
	}
	return verdict, fmt.Errorf("%s: %w", doing, plain(err))
}
