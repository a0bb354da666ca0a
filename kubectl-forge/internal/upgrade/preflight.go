// Package upgrade decides whether an upgrade can begin or be rolled back, and describes
// its progress. It makes no request.
package upgrade

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// Preflight checks for what would block an upgrade to the release.
func Preflight(f Facts, to string) []check.Finding {
	change, err := Upgrade(f, to)
	if err != nil {
		return []check.Finding{{Name: "Release", Result: check.Failed, Text: err.Error()}}
	}
	p := &preflight{Facts: f, change: change}
	for _, service := range f.Services {
		p.check(service, change.Tag(service))
	}
	return p.findings
}

// preflight collects the findings about a change.
type preflight struct {
	Facts
	change   Change
	findings []check.Finding
}

func (p *preflight) add(service inventory.Instance, name string, result check.Result, format string, args ...any) {
	p.findings = append(p.findings, check.Finding{Name: p.label(service, name), Result: result, Text: fmt.Sprintf(format, args...)})
}

// label is the name of a line about a service. Where there are several, it names the service.
func (f Facts) label(service inventory.Instance, name string) string {
	if len(f.Services) == 1 {
		return name
	}
	return service.Of.Kind + ": " + name
}

func (p *preflight) check(service inventory.Instance, tag string) {
	result, text := p.release(service, tag)
	p.add(service, "Release", result, "%s", text)
	result, text = running(service.ServiceStatus(), tag)
	p.add(service, "Running upgrade", result, "%s", text)
	switch ref := p.Target().Arg(); {
	case p.begun():
		p.add(service, "Ready", check.OK, "checked after the upgrade")
	case p.isReady():
		p.add(service, "Ready", check.OK, "%s is ready", ref)
	default:
		p.add(service, "Ready", check.Failed, "%s is not ready: see \"kubectl forge status %s\"", ref, ref)
	}
	if strategy := service.ServiceSpec().Strategy; strategy != nil && strategy.Type == appsv1.RecreateDeploymentStrategyType {
		p.add(service, "Rollout", check.Warning, "spec.strategy is Recreate: requests fail between the last old pod and the first new one")
	}
	backup := meta.FindStatusCondition(service.GetConditions(), vocabulary.ConditionBackupHealthy)
	if backup != nil && backup.Status != metav1.ConditionTrue {
		p.add(service, "Backup of the keys", check.Warning, "%s", backup.Message)
	}
	image := commonv1.ImageSpec{Repository: service.ServiceSpec().Image.Repository, Tag: tag, Digest: p.digest(service)}
	p.add(service, "Image", check.OK,
		"the nodes have to be able to pull %s; the first Job tries it before anything changes", image.Reference())
}

// release checks the release of a service that an image tag is of.
func (p *preflight) release(service inventory.Instance, tag string) (check.Result, string) {
	status := service.ServiceStatus()
	target, err := release.Parse(tag)
	if err != nil {
		return check.Failed, err.Error()
	}
	if status.InstalledRelease == "" {
		return check.Failed, "no release is installed yet, so there is nothing to upgrade: wait until it is ready"
	}
	installed, err := release.Parse(status.InstalledRelease)
	if err != nil {
		return check.Failed, "the installed release cannot be parsed: " + err.Error()
	}
	next := installed.Next()
	switch change := release.Classify(installed, target, service.Of.SLURP); change {
	case release.None:
		return p.sameRelease(status, tag, next)
	case release.Downgrade:
		return check.Failed, fmt.Sprintf("%s is older than %s, and a database schema cannot be downgraded; the next release is %s",
			tag, installed, next)
	case release.Patch:
		return check.OK, tag + " is another build of the installed release"
	case release.Skip, release.Upgrade:
		if p.requestsOffline(service, tag) {
			return check.Warning, fmt.Sprintf(
				"the upgrade from %s to %s is offline: the API is down meanwhile, and the only way back is a restore of a database backup",
				installed, tag)
		}
		toward := release.Toward(installed, target, service.Of.SLURP)
		if change == release.Skip {
			return check.Failed, fmt.Sprintf(
				"from %s the next release is %s: upgrade to that one first, or request an offline upgrade with the annotation %s",
				installed, toward, commonv1.AnnotationOfflineUpgrade)
		}
		if !toward.SameRelease(next) {
			return check.OK, fmt.Sprintf("an upgrade from %s to %s may skip %s", installed, tag, next)
		}
	}
	return check.OK, fmt.Sprintf("%s follows %s", tag, installed)
}

// sameRelease checks a tag that is installed. The services that have the release do not block the others.
func (p *preflight) sameRelease(status *commonv1.ServiceStatus, tag string, next release.Release) (check.Result, string) {
	lacks := func(s inventory.Instance) bool { return s.ServiceStatus().InstalledRelease != p.change.Tag(s) }
	switch {
	case status.TargetRelease != "":
		return check.Failed, tag + " is the installed release: use --abort to roll back to it"
	case slices.ContainsFunc(p.Services, lacks):
		return check.OK, tag + " is installed already"
	}
	return check.Failed, fmt.Sprintf("%s is installed already; the next release is %s", tag, next)
}

func running(status *commonv1.ServiceStatus, to string) (check.Result, string) {
	switch {
	case status.TargetRelease == "" && status.ExpandedRelease != "" && !inventory.SameRelease(status.ExpandedRelease, to):
		return check.Failed, "the schema has been expanded for " + status.ExpandedRelease + ": upgrade to that release"
	case status.TargetRelease == "":
		return check.OK, "none"
	case status.TargetRelease == to:
		return check.OK, "it is in progress, in phase " + string(status.UpgradePhase)
	}
	return check.Failed, fmt.Sprintf("one to %s is in phase %s: wait until it has finished, or use --abort first",
		status.TargetRelease, status.UpgradePhase)
}

// begun reports whether the change is in progress: a service is being upgraded, or waits for
// its turn since the spec asks for the release.
func (p *preflight) begun() bool {
	return slices.ContainsFunc(p.Services, func(service inventory.Instance) bool {
		status, tag := service.ServiceStatus(), p.change.Tag(service)
		return status.TargetRelease != "" || p.asked(service) == tag && status.InstalledRelease != tag
	})
}

// isReady reports whether the target is ready, whatever its spec.
func (f Facts) isReady() bool {
	conditions := f.Services[0].GetConditions()
	if f.ControlPlane != nil {
		conditions = f.ControlPlane.Status.Conditions
	}
	return meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReady)
}
