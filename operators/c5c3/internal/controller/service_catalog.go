package controller

import (
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/cluster"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// endpoint is an entry of a service in the catalog.
type endpoint struct {
	// interfaceName is "public", "internal" or "admin".
	interfaceName string
	url           func(cluster.Settings, *c5c3v1alpha1.ControlPlane) string
}

func (svc service) catalogService(cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Service {
	return catalogService(cp, svc.name, svc.catalogType)
}

func (svc service) catalogEndpoint(entry endpoint, c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Endpoint {
	return &orcv1alpha1.Endpoint{
		ObjectMeta: controlplane.ChildMeta(cp, cp.CatalogEndpointName(svc.catalogType, entry.interfaceName)),
		Spec: orcv1alpha1.EndpointSpec{
			CloudCredentialsRef: adminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: detached(),
			Resource: &orcv1alpha1.EndpointResourceSpec{
				Interface: entry.interfaceName, URL: entry.url(c, cp), ServiceRef: *nameRef(cp.CatalogServiceName(svc.catalogType)),
				Enabled: ptr.To(true),
			},
		},
	}
}

// catalogObjects are the objects, known by their names, of all entries that the
// control plane may have.
func (all serviceList) catalogObjects(cp *c5c3v1alpha1.ControlPlane) []orcObject {
	var objects []orcObject
	for _, svc := range all {
		for _, entry := range svc.endpoints {
			name := cp.CatalogEndpointName(svc.catalogType, entry.interfaceName)
			objects = append(objects, &orcv1alpha1.Endpoint{ObjectMeta: controlplane.ChildMeta(cp, name)})
		}
		objects = append(objects, svc.catalogService(cp))
	}
	return objects
}
