package doctor

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
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

var controlPlaneKind = schema.GroupKind{Group: c5c3v1alpha1.GroupVersion.Group, Kind: inventory.KindControlPlane}

var projects = append(serviceOperators(), []project{
	{
		name: "c5c3 operator", kinds: []schema.GroupKind{
			controlPlaneKind,
			{Group: c5c3v1alpha1.GroupVersion.Group, Kind: "CredentialRotation"},
			{Group: c5c3v1alpha1.GroupVersion.Group, Kind: "SecretAggregate"},
		}, version: c5c3v1alpha1.GroupVersion.Version, use: "it runs whole ControlPlanes",
	},
	{
		name: "mariadb-operator", kinds: foreign(inventory.GroupMariaDB), version: "v1alpha1",
		use: "it creates databases for database.clusterRef", controlPlane: true,
	},
	{name: "memcached operator", kinds: foreign(inventory.GroupMemcached), use: "it creates the cache of a ControlPlane", controlPlane: true},
	{
		name: "External Secrets", kinds: append(foreign(inventory.GroupExternalSecrets), inventory.StoreKind),
		use: "it delivers Secrets from the secret store and keeps copies of keys there", controlPlane: true,
	},
	{
		name: "K-ORC", kinds: foreign(inventory.GroupKORC), version: "v1alpha1",
		use: "it creates the application credential and the catalog of a ControlPlane", controlPlane: true,
	},
	{name: "cert-manager", kinds: foreign(inventory.GroupCertManager), use: "it issues client certificates for database.tls"},
	{name: "Gateway API", kinds: foreign(inventory.GroupGatewayAPI), use: "it publishes services with spec.gateway"},
}...)

// serviceOperators are our operators of API services. Every ControlPlane has a Keystone.
func serviceOperators() []project {
	operators := make([]project, 0, len(inventory.ServiceKinds))
	for _, kind := range inventory.ServiceKinds {
		operators = append(operators, project{
			name: kind.Kind + " operator", kinds: []schema.GroupKind{kind.GroupKind()}, version: kind.Version,
			use: "it runs " + kind.Kind + "s", controlPlane: kind.Kind == inventory.KindKeystone,
		})
	}
	return operators
}

func foreign(group string) []schema.GroupKind {
	return slices.DeleteFunc(slices.Clone(inventory.ForeignKinds), func(kind schema.GroupKind) bool { return kind.Group != group })
}

// Kinds returns all kinds that the checks look up.
func Kinds() []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, p := range projects {
		kinds = append(kinds, p.kinds...)
	}
	return kinds
}

// serves reports whether the cluster has the kind of one of our operators.
func (f Facts) serves(kind string) bool {
	if service := inventory.ServiceKindOf(kind); service != nil {
		return len(f.Served[service.GroupKind()]) > 0
	}
	return kind == controlPlaneKind.Kind && len(f.Served[controlPlaneKind]) > 0
}

func (f Facts) checkKinds() []check.Finding {
	if found, isHidden := f.hidden(TopicKinds); isHidden {
		return []check.Finding{found}
	}
	findings := make([]check.Finding, 0, len(projects))
	for _, p := range projects {
		findings = append(findings, f.checkProject(p))
	}
	return findings
}

// checkProject checks whether all kinds of a project are served. A kind that a ControlPlane
// requires is mandatory only if the cluster serves ControlPlanes.
func (f Facts) checkProject(p project) check.Finding {
	topic := Topic("Kinds of " + p.name)
	missing, versions := f.look(p)
	switch {
	case len(missing) == 0:
		return finding(topic, check.OK, "%s", strings.Join(versions, ", "))
	case p.controlPlane && f.serves(inventory.KindControlPlane):
		return finding(topic, check.Failed, "the cluster does not serve %s: install %s, %s", wanted(missing, p), p.name, p.use)
	}
	return finding(topic, check.Warning, "the cluster does not serve %s; install %s if you need it: %s", wanted(missing, p), p.name, p.use)
}

// look returns the kinds of a project that are not served in the version that it needs, and
// all versions in which the others are served.
func (f Facts) look(p project) (missing, versions []string) {
	for _, kind := range p.kinds {
		served := f.Served[kind]
		if len(served) == 0 || p.version != "" && !slices.Contains(served, p.version) {
			missing = append(missing, kind.Kind)
		}
		versions = append(versions, served...)
	}
	slices.Sort(versions)
	return missing, slices.Compact(versions)
}

func wanted(missing []string, p project) string {
	text := strings.Join(missing, ", ")
	if p.version != "" {
		text += " in version " + p.version
	}
	return text
}
