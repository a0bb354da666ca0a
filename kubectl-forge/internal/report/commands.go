package report

import (
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

func onTarget(ref inventory.Ref) string { return ref.Arg() + " -n " + ref.Namespace }

func kubectl(namespace, format string, args ...any) string {
	return "kubectl -n " + namespace + " " + fmt.Sprintf(format, args...)
}

// releaseOwner is the object in which the release and the image of a service are set.
func releaseOwner(service inventory.Instance) inventory.Ref {
	if plane := inventory.PlaneOf(service); plane != nil {
		return *plane
	}
	return service.Ref()
}

func abort(owner inventory.Ref) string {
	return "kubectl forge upgrade " + onTarget(owner) + " --abort"
}

func edit(owner inventory.Ref) string {
	return kubectl(owner.Namespace, "edit %s %s", strings.ToLower(owner.Kind), owner.Name)
}

// describeStores names both stores: External Secrets cannot check one of them.
const describeStores = "kubectl describe clustersecretstores " + secrets.StoreName + " " + secrets.CheckedStoreName

// describeDatabase returns the command that shows whether the database of a service that has
// one can be reached.
func describeDatabase(of inventory.Instance) string {
	ns, database := of.GetNamespace(), commonv1.DataOf(of.Resource).Database
	if database.ClusterRef != nil {
		return kubectl(ns, "describe mariadb %s", database.ClusterRef.Name)
	}
	if service, isInside := inventory.ServiceOf(database.Host, ns); isInside {
		return kubectl(service.Namespace, "get endpointslices -l kubernetes.io/service-name=%s", service.Name)
	}
	return kubectl(ns, "get %s %s -o jsonpath={.spec.database}", strings.ToLower(of.Of.Kind), of.GetName())
}
