package services

import (
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/cluster"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
)

func (svc Service) catalogEndpoint(entry endpoint, c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Endpoint {
	return &orcv1alpha1.Endpoint{
		ObjectMeta: controlplane.ChildMeta(cp, cp.CatalogEndpointName(svc.catalogType, entry.interfaceName)),
		Spec: orcv1alpha1.EndpointSpec{
			CloudCredentialsRef: korc.AdminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: korc.Detached(),
			Resource: &orcv1alpha1.EndpointResourceSpec{
				Interface: entry.interfaceName, URL: entry.url(c, cp), ServiceRef: *korc.NameRef(cp.CatalogServiceName(svc.catalogType)),
				Enabled: ptr.To(true),
			},
		},
	}
}

// CatalogObjects returns the objects of all entries that the control plane may have. Only
// their names are set.
func (all List) CatalogObjects(cp *c5c3v1alpha1.ControlPlane) []korc.Object {
	objects := make([]korc.Object, 0, len(all))
	for _, svc := range all {
		objects = append(objects, svc.catalogObjects(cp)...)
	}
	return objects
}

// catalogObjects returns those of one service, its endpoints before itself.
func (svc Service) catalogObjects(cp *c5c3v1alpha1.ControlPlane) []korc.Object {
	if svc.catalogType == "" {
		return nil
	}
	var objects []korc.Object
	for _, entry := range svc.endpoints {
		name := cp.CatalogEndpointName(svc.catalogType, entry.interfaceName)
		objects = append(objects, &orcv1alpha1.Endpoint{ObjectMeta: controlplane.ChildMeta(cp, name)})
	}
	return append(objects, svc.catalogService(cp))
}

func (svc Service) catalogService(cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Service {
	return korc.CatalogService(cp, svc.name, svc.catalogType)
}
