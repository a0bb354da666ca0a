// Package upgrade decides whether an upgrade can begin or be rolled back, and describes
// its progress. It makes no request.
package upgrade

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Preflight checks for what would block an upgrade to the release.
func Preflight(f Facts, to string) []check.Finding {
	change, err := Upgrade(f, to)
	if err != nil {
		return []check.Finding{failed("Release", "%s", err)}
	}
	var findings []check.Finding
	for _, service := range f.Services {
		own := f.checkService(service, change)
		for i := range own {
			own[i].Name = f.label(service, own[i].Name)
		}
		findings = append(findings, own...)
	}
	return findings
}

func (f Facts) checkService(service inventory.Service, change Change) []check.Finding {
	tag := change.Tag(service)
	findings := []check.Finding{f.checkRelease(service, change), checkRunning(service, tag), f.checkReady(change)}
	for _, finding := range []*check.Finding{checkStrategy(service), checkBackup(service)} {
		if finding != nil {
			findings = append(findings, *finding)
		}
	}
	return append(findings, fine("Image", "the nodes have to be able to pull %s:%s; the first Job tries it before anything changes",
		service.ServiceSpec().Image.Repository, tag))
}

// label is the name of a line about a service. Where there are several, it names the service.
func (f Facts) label(service inventory.Service, name string) string {
	if len(f.Services) == 1 {
		return name
	}
	return service.Of.Kind + ": " + name
}

func failed(name, format string, args ...any) check.Finding {
	return check.Finding{Name: name, Result: check.Failed, Text: fmt.Sprintf(format, args...)}
}

func fine(name, format string, args ...any) check.Finding {
	return check.Finding{Name: name, Result: check.OK, Text: fmt.Sprintf(format, args...)}
}

func (f Facts) checkRelease(service inventory.Service, to Change) check.Finding {
	const name = "Release"
	tag, status := to.Tag(service), service.ServiceStatus()
	target, err := release.Parse(tag)
	if err != nil {
		return failed(name, "%s", err)
	}
	if status.InstalledRelease == "" {
		return failed(name, "no release is installed yet, so there is nothing to upgrade: wait until it is ready")
	}
	installed, err := release.Parse(status.InstalledRelease)
	if err != nil {
		return failed(name, "the installed release cannot be parsed: %s", err)
	}
	change, toward := release.Classify(installed, target, service.Of.SLURP), release.Toward(installed, target, service.Of.SLURP)
	if (change == release.Skip || change == release.Upgrade) && f.requestsOffline(service, tag) {
		return check.Finding{Name: name, Result: check.Warning, Text: fmt.Sprintf(
			"the upgrade from %s to %s is offline: the API is down meanwhile, and the only way back is a restore of a database backup",
			installed, tag)}
	}
	switch change {
	case release.None:
		if status.TargetRelease != "" {
			return failed(name, "%s is the installed release: use --abort to roll back to it", tag)
		}
		if f.lacks(to) {
			return fine(name, "%s is installed already", tag)
		}
		return failed(name, "%s is installed already; the next release is %s", tag, installed.Next())
	case release.Downgrade:
		return failed(name, "%s is older than %s, and a database schema cannot be downgraded; the next release is %s",
			tag, installed, installed.Next())
	case release.Skip:
		return failed(name, "from %s the next release is %s: upgrade to that one first, or request an offline upgrade with the annotation %s",
			installed, toward, commonv1.AnnotationOfflineUpgrade)
	case release.Patch:
		return fine(name, "%s is another build of the installed release", tag)
	}
	if !toward.SameRelease(installed.Next()) {
		return fine(name, "an upgrade from %s to %s may skip %s", installed, tag, installed.Next())
	}
	return fine(name, "%s follows %s", tag, installed)
}

// lacks reports whether a service does not have the release yet. The services that have it
// do not block the others.
func (f Facts) lacks(change Change) bool {
	return slices.ContainsFunc(f.Services, func(s inventory.Service) bool { return s.ServiceStatus().InstalledRelease != change.Tag(s) })
}

func checkRunning(service inventory.Service, to string) check.Finding {
	const name = "Running upgrade"
	status := service.ServiceStatus()
	switch {
	case status.TargetRelease == "" && status.ExpandedRelease != "" && !inventory.SameRelease(status.ExpandedRelease, to):
		return failed(name, "the schema has been expanded for %s: upgrade to that release", status.ExpandedRelease)
	case status.TargetRelease == "":
		return fine(name, "none")
	case status.TargetRelease == to:
		return fine(name, "it is in progress, in phase %s", status.UpgradePhase)
	}
	return failed(name, "one to %s is in phase %s: wait until it has finished, or use --abort first",
		status.TargetRelease, status.UpgradePhase)
}

// begun reports whether the change is in progress: a service is being upgraded, or waits for
// its turn since the spec asks for the release.
func (f Facts) begun(change Change) bool {
	return slices.ContainsFunc(f.Services, func(service inventory.Service) bool {
		status := service.ServiceStatus()
		return status.TargetRelease != "" || f.asked(service) == change.Tag(service) && status.InstalledRelease != change.Tag(service)
	})
}

func (f Facts) checkReady(change Change) check.Finding {
	const name = "Ready"
	conditions := f.Services[0].GetConditions()
	if f.ControlPlane != nil {
		conditions = f.ControlPlane.Status.Conditions
	}
	switch {
	case f.begun(change):
		return fine(name, "not before the upgrade has finished")
	case meta.IsStatusConditionTrue(conditions, vocabulary.ConditionReady):
		return fine(name, "%s is ready", f.Target().Arg())
	}
	return failed(name, "%s is not ready: see \"kubectl forge status %s\"", f.Target().Arg(), f.Target().Arg())
}

func checkStrategy(service inventory.Service) *check.Finding {
	strategy := service.ServiceSpec().Strategy
	if strategy == nil || strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return nil
	}
	return &check.Finding{
		Name: "Rollout", Result: check.Warning,
		Text: "spec.strategy is Recreate: requests fail between the last old pod and the first new one",
	}
}

func checkBackup(service inventory.Service) *check.Finding {
	backup := meta.FindStatusCondition(service.GetConditions(), keystonev1alpha1.ConditionBackupHealthy)
	if backup == nil || backup.Status == "True" {
		return nil
	}
	return &check.Finding{Name: "Backup of the keys", Result: check.Warning, Text: backup.Message}
}
