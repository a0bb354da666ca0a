package doctor

import (
	"context"
	"slices"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// project describes an operator by its kinds.
type project struct {
	name string
	// kinds are looked up in the version, or in any version if it is empty.
	kinds   []schema.GroupKind
	version string
	// use says what it is needed for.
	use string
	// controlPlane is set if a ControlPlane requires it.
	controlPlane bool
}

// own are the kinds that can be a target, those of services first.
var own = slices.Concat(inventory.TargetKinds()[1:], inventory.TargetKinds()[:1])

// projects are our operators and those of others.
var projects = append(ownProjects(), []project{
	{"mariadb-operator", thirdParty("k8s.mariadb.com"), "v1alpha1", "it creates databases for database.clusterRef", true},
	{"memcached operator", thirdParty("memcached.c5c3.io"), "", "it creates the cache of a ControlPlane", true},
	{
		"External Secrets", append(thirdParty(esov1.Group), schema.GroupKind{Group: esov1.Group, Kind: esov1.ClusterSecretStoreKind}), "",
		"it delivers Secrets from the secret store and keeps copies of keys there", true,
	},
	{
		"K-ORC", thirdParty("openstack.k-orc.cloud"), "v1alpha1",
		"it creates the application credential and the catalog of a ControlPlane", true,
	},
	{"cert-manager", thirdParty("cert-manager.io"), "", "it issues client certificates for database.tls", false},
	{"Gateway API", thirdParty("gateway.networking.k8s.io"), "", "it publishes services with spec.gateway", false},
}...)

// ownProjects are our operators. Every ControlPlane has a Keystone.
func ownProjects() []project {
	found := make([]project, 0, len(own))
	for _, kind := range own {
		p := project{
			kind.Kind + " operator",
			[]schema.GroupKind{kind.GroupKind()},
			kind.Version, "it runs " + kind.Kind + "s",
			kind.Kind == inventory.KindKeystone,
		}
		if kind.Kind == inventory.KindControlPlane {
			p.name, p.use = "c5c3 operator", "it runs whole ControlPlanes"
			p.kinds = append(p.kinds, schema.GroupKind{Group: kind.Group, Kind: "CredentialRotation"},
				schema.GroupKind{Group: kind.Group, Kind: "SecretAggregate"})
		}
		found = append(found, p)
	}
	return found
}

func thirdParty(group string) []schema.GroupKind {
	return slices.DeleteFunc(slices.Clone(inventory.ThirdPartyKinds), func(kind schema.GroupKind) bool { return kind.Group != group })
}

// serves reports whether the cluster serves one of our kinds.
func (e *examination) serves(kind schema.GroupVersionKind) bool {
	return len(e.served[kind.GroupKind()]) > 0
}

func (e *examination) checkKinds(context.Context) error {
	_, lists, err := e.Discovery.ServerGroupsAndResources()
	// An API that another server provides may be down. It is none of those that are looked up.
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return err
	}
	e.served = map[schema.GroupKind][]string{}
	for _, list := range lists {
		served, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, resource := range list.APIResources {
			if kind := served.WithKind(resource.Kind).GroupKind(); !slices.Contains(e.served[kind], served.Version) {
				e.served[kind] = append(e.served[kind], served.Version)
			}
		}
	}
	for _, p := range projects {
		e.checkProject(p)
	}
	return nil
}

// checkProject checks whether all kinds of a project are served. What a ControlPlane requires is mandatory only if the
// cluster serves ControlPlanes.
func (e *examination) checkProject(p project) {
	var missing, versions []string
	for _, kind := range p.kinds {
		served := e.served[kind]
		if len(served) == 0 || p.version != "" && !slices.Contains(served, p.version) {
			missing = append(missing, kind.Kind)
		}
		versions = append(versions, served...)
	}
	slices.Sort(versions)
	lacking := strings.Join(missing, ", ")
	if p.version != "" {
		lacking += " in version " + p.version
	}
	switch name := "Kinds of " + p.name; {
	case len(missing) == 0:
		e.add(name, check.OK, "%s", strings.Join(slices.Compact(versions), ", "))
	case p.controlPlane && e.serves(inventory.TargetKinds()[0]):
		e.add(name, check.Failed, "the cluster does not serve %s: install %s, %s", lacking, p.name, p.use)
	default:
		e.add(name, check.Warning, "the cluster does not serve %s; install %s if you need it: %s", lacking, p.name, p.use)
	}
}
