package services

import (
	"fmt"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// catalogEntry is a K-ORC object of a service, the reason if it cannot be written, and a
// description of what it registers.
type catalogEntry struct {
	of                string
	object            korc.Object
	failed, registers string
	// service is the object of the service that an endpoint belongs to, wanted what the
	// endpoint is to be.
	service *orcv1alpha1.Service
	wanted  identity.Endpoint
}

// isEntered reports whether Keystone has the entry that the object describes.
func (e catalogEntry) isEntered() bool {
	endpoint, isEndpoint := e.object.(*orcv1alpha1.Endpoint)
	return korc.StateOf(e.object).Available && e.object.GetDeletionTimestamp().IsZero() && (!isEndpoint || endpoint.Status.ID != nil)
}

// catalogEntries returns the entries of the control plane's services, each service before
// its endpoints.
func (all List) catalogEntries(s *pass.Pass) []catalogEntry {
	var entries []catalogEntry
	for _, svc := range all.wantedBy(s.CP) {
		if svc.catalogType == "" {
			continue
		}
		service := svc.catalogService(s.CP)
		entries = append(entries, catalogEntry{of: svc.name, object: service, failed: c5c3v1alpha1.ReasonServiceError})
		for _, at := range svc.endpoints {
			object := svc.catalogEndpoint(at, s.Cluster, s.CP)
			entries = append(entries, catalogEntry{
				of: svc.name, object: object, failed: c5c3v1alpha1.ReasonEndpointError,
				registers: fmt.Sprintf("%s at %s", svc.Kind.Kind, object.Spec.Resource.URL),
				service:   service, wanted: identity.Endpoint{Interface: at.interfaceName, URL: object.Spec.Resource.URL},
			})
		}
	}
	return entries
}
