package doctor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Need lists the permissions that a command needs in the namespace.
type Need struct {
	Command string
	Rights  []kube.Right
}

func own(verb, resource, namespace string) kube.Right {
	group := c5c3v1alpha1.GroupVersion.Group
	for _, kind := range inventory.ServiceKinds {
		if kind.Plural == resource {
			group = kind.Group
		}
	}
	return kube.Right{Verb: verb, Resource: resource, Group: group, Namespace: namespace}
}

// targets is the permission on everything that can be the target of a command.
func targets(verb, namespace string) []kube.Right {
	rights := make([]kube.Right, 0, len(inventory.ServiceKinds)+1)
	rights = append(rights, own(verb, "controlplanes", namespace))
	for _, kind := range inventory.ServiceKinds {
		rights = append(rights, own(verb, kind.Plural, namespace))
	}
	return rights
}

func core(verb, resource, namespace string) kube.Right {
	name, sub, _ := strings.Cut(resource, "/")
	return kube.Right{Verb: verb, Resource: name, Subresource: sub, Namespace: namespace}
}

// Needs returns the permissions that the commands need in the namespace.
func Needs(namespace string) []Need {
	batch := func(verb, resource string) kube.Right {
		return kube.Right{Verb: verb, Resource: resource, Group: "batch", Namespace: namespace}
	}
	list := append(targets("list", namespace), []kube.Right{
		core("list", "pods", namespace), core("list", "events", namespace), core("get", "pods/log", namespace),
		batch("list", "jobs"), batch("list", "cronjobs"),
		{Verb: "list", Resource: "deployments", Group: "apps", Namespace: namespace},
	}...)
	return []Need{
		{Command: "status, support-bundle", Rights: list},
		{Command: "wait", Rights: targets("get", namespace)},
		{
			Command: "rotate fernet, credential, password",
			Rights: []kube.Right{
				own("get", "keystones", namespace), batch("get", "cronjobs"), batch("create", "jobs"), batch("get", "jobs"),
			},
		},
		{
			Command: "rotate application-credential",
			Rights: []kube.Right{
				own("get", "controlplanes", namespace), own("create", "credentialrotations", namespace),
				own("get", "credentialrotations", namespace), own("delete", "credentialrotations", namespace),
			},
		},
		{Command: "upgrade", Rights: targets("patch", namespace)},
		{
			Command: "verify",
			Rights: []kube.Right{
				core("get", "secrets", namespace), core("get", "services", namespace), core("list", "pods", namespace),
				core("create", "pods/portforward", namespace),
			},
		},
		{
			Command: "verify --tempest",
			Rights: []kube.Right{
				batch("create", "jobs"), batch("get", "jobs"), core("list", "pods", namespace), core("get", "pods/log", namespace),
			},
		},
		{
			Command: "login",
			Rights:  []kube.Right{core("get", "secrets", namespace), core("list", "pods", namespace), core("create", "pods/portforward", namespace)},
		},
	}
}

// AllRights returns the permissions of all commands, without duplicates.
func AllRights(namespace string) []kube.Right {
	var all []kube.Right
	for _, need := range Needs(namespace) {
		for _, right := range need.Rights {
			if !slices.Contains(all, right) {
				all = append(all, right)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b kube.Right) int { return cmp.Compare(a.Resource, b.Resource) })
	return all
}

// checkRights checks for each command whether the user has its permissions.
func (f Facts) checkRights() []check.Finding {
	var findings []check.Finding
	for _, need := range Needs(f.Namespace) {
		topic := Topic("Permissions for " + need.Command)
		var missing []string
		for _, right := range need.Rights {
			if !f.Rights[right] && !f.isAbsent(right) {
				missing = append(missing, right.String())
			}
		}
		if len(missing) == 0 {
			findings = append(findings, finding(topic, check.OK, "granted in namespace %s", f.Namespace))
			continue
		}
		findings = append(findings, finding(topic, check.Warning, "you may not %s", strings.Join(missing, "; ")))
	}
	return findings
}

// isAbsent reports whether the permission is one on a kind of ours that the cluster does not
// serve, which nobody needs.
func (f Facts) isAbsent(right kube.Right) bool {
	if _, isHidden := f.hidden(TopicKinds); isHidden {
		return false
	}
	for _, kind := range inventory.ServiceKinds {
		if kind.Group == right.Group {
			return !f.serves(kind.Kind)
		}
	}
	return right.Group == controlPlaneKind.Group && !f.serves(controlPlaneKind.Kind)
}
