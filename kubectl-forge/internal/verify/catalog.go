package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/catalog"
)

// catalog returns the endpoints to test.
func (r *run) catalog(ctx context.Context, token token) ([]endpoint, string, error) {
	page, err := catalog.List(r.identity(r.Network.Client(), token.id)).AllPages(ctx)
	if err != nil {
		return nil, "", explained(err, token.id)
	}
	entries, err := catalog.ExtractServiceCatalog(page)
	if err != nil {
		return nil, "", notKeystone(err)
	}
	var types []string
	var all, chosen []endpoint
	for _, entry := range entries {
		for _, found := range entry.Endpoints {
			all = append(all, endpoint{found, entry.Type})
			types = append(types, entry.Type)
			if len(r.Interfaces) == 0 || slices.Contains(r.Interfaces, found.Interface) {
				chosen = append(chosen, endpoint{found, entry.Type})
			}
		}
	}
	slices.Sort(types)
	text := fmt.Sprintf("%d endpoints of %s", len(all), strings.Join(slices.Compact(types), ", "))
	if len(chosen) < len(all) {
		text += fmt.Sprintf(", %d of them with interface %s", len(chosen), strings.Join(r.Interfaces, " or "))
	}
	for _, wanted := range r.Types {
		if !slices.Contains(types, wanted) {
			return chosen, "", fmt.Errorf("there is no endpoint of type %s, only %s", wanted, text)
		}
	}
	if len(chosen) == 0 {
		return nil, "", fmt.Errorf("there is none to test: %s", text)
	}
	return chosen, text, nil
}
