// Package upgrade decides whether an upgrade can begin or be rolled back, and describes
// its progress. It makes no request.
package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Facts are what an upgrade depends on.
type Facts struct {
	// ControlPlane is nil when the service belongs to none.
	ControlPlane *c5c3v1alpha1.ControlPlane
	// Services are those of the ControlPlane, or the one that belongs to none.
	Services []inventory.Service
}

// Target is the object whose spec has the release.
func (f Facts) Target() inventory.Ref {
	if f.ControlPlane != nil {
		return inventory.Ref{Kind: inventory.KindControlPlane, Namespace: f.ControlPlane.Namespace, Name: f.ControlPlane.Name}
	}
	return f.Services[0].Ref()
}

// ownImage returns the image that the user has set on the ControlPlane for a service,
// whose tag is then the release, nil when there is none.
func (f Facts) ownImage(service inventory.Service) *commonv1.ImageSpec {
	return ownImages(f.ControlPlane)[fieldOf(service)]
}

// fieldOf returns the name of the service in spec.services of a ControlPlane.
func fieldOf(service inventory.Service) string { return strings.ToLower(service.Of.Kind) }

// ownImages returns the images in spec.services of the ControlPlane by the name of the service.
func ownImages(cp *c5c3v1alpha1.ControlPlane) map[string]*commonv1.ImageSpec {
	images := map[string]*commonv1.ImageSpec{}
	var services map[string]struct {
		Image *commonv1.ImageSpec `json:"image"`
	}
	encoded, err := json.Marshal(cp.Spec.Services)
	if err != nil || json.Unmarshal(encoded, &services) != nil {
		return images
	}
	for name, service := range services {
		if service.Image != nil {
			images[name] = service.Image
		}
	}
	return images
}

// Preflight checks for what would block an upgrade to the release.
func Preflight(f Facts, to string) []check.Finding {
	var findings []check.Finding
	for _, service := range f.Services {
		own := []check.Finding{f.checkRelease(service, to), checkRunning(service, to), f.checkReady(service)}
		for _, finding := range []*check.Finding{checkStrategy(service), checkBackup(service)} {
			if finding != nil {
				own = append(own, *finding)
			}
		}
		own = append(own, fine("Image", "the nodes have to be able to pull %s:%s; the first Job tries it before anything changes",
			service.ServiceSpec().Image.Repository, to))
		for i := range own {
			own[i].Name = f.label(service, own[i].Name)
		}
		findings = append(findings, own...)
	}
	return findings
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

func (f Facts) checkRelease(service inventory.Service, to string) check.Finding {
	const name = "Release"
	target, err := release.Parse(to)
	if err != nil {
		return failed(name, "%s", err)
	}
	if f.ControlPlane != nil && target.Suffix != "" && f.ownImage(service) == nil {
		return failed(name, "another build of a release needs services.%s.image in ControlPlane %s: set it first",
			fieldOf(service), f.ControlPlane.Name)
	}
	status := service.ServiceStatus()
	if status.InstalledRelease == "" {
		return failed(name, "no release is installed yet, so there is nothing to upgrade: wait until it is ready")
	}
	installed, err := release.Parse(status.InstalledRelease)
	if err != nil {
		return failed(name, "the installed release cannot be parsed: %s", err)
	}
	switch release.Classify(installed, target) {
	case release.None:
		if status.TargetRelease != "" {
			return failed(name, "%s is the installed release: use --abort to roll back to it", to)
		}
		if f.continues(to) {
			return fine(name, "%s is installed already", to)
		}
		return failed(name, "%s is installed already", to)
	case release.Downgrade:
		return failed(name, "%s is older than %s, and a database schema cannot be downgraded", to, installed)
	case release.Skip:
		return failed(name, "from %s the next release is %s: upgrade to that one first", installed, installed.Next())
	case release.Patch:
		return fine(name, "%s is another build of the installed release", to)
	}
	return fine(name, "%s follows %s", to, installed)
}

// continues reports whether the ControlPlane asks for the release and not all of its services
// have it yet, so that the services that have it do not block the others.
func (f Facts) continues(to string) bool {
	return slices.ContainsFunc(f.Services, func(s inventory.Service) bool { return s.ServiceStatus().InstalledRelease != to })
}

func checkRunning(service inventory.Service, to string) check.Finding {
	const name = "Running upgrade"
	status := service.ServiceStatus()
	switch {
	case status.TargetRelease == "" && status.ExpandedRelease != "" && !sameRelease(status.ExpandedRelease, to):
		return failed(name, "the schema has been expanded for %s: upgrade to that release", status.ExpandedRelease)
	case status.TargetRelease == "":
		return fine(name, "none")
	case status.TargetRelease == to:
		return fine(name, "it is in progress, in phase %s", status.UpgradePhase)
	}
	return failed(name, "one to %s is in phase %s: wait until it has finished, or use --abort first",
		status.TargetRelease, status.UpgradePhase)
}

func sameRelease(a, b string) bool {
	x, errX := release.Parse(a)
	y, errY := release.Parse(b)
	return errX == nil && errY == nil && x.SameRelease(y)
}

// inProgress reports whether a service is being upgraded.
func (f Facts) inProgress() bool {
	return slices.ContainsFunc(f.Services, func(s inventory.Service) bool { return s.ServiceStatus().TargetRelease != "" })
}

func (f Facts) checkReady(service inventory.Service) check.Finding {
	const name = "Ready"
	conditions := service.GetConditions()
	if f.ControlPlane != nil {
		conditions = f.ControlPlane.Status.Conditions
	}
	switch {
	case f.inProgress():
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

// AbortTarget returns the release to roll back to.
func AbortTarget(f Facts) (string, error) {
	installed := f.Services[0].ServiceStatus().InstalledRelease
	asked := true
	for _, service := range f.Services {
		status := service.ServiceStatus()
		switch {
		case status.InstalledRelease == "":
			return "", errors.New("no release is installed yet, so there is none to roll back to")
		case status.UpgradePhase == commonv1.UpgradePhaseContracting:
			return "", fmt.Errorf("the upgrade to %s is in phase Contracting and can no longer be rolled back: "+
				"the schema no longer fits %s", status.TargetRelease, status.InstalledRelease)
		case status.InstalledRelease != installed:
			return "", fmt.Errorf("%s has release %s and %s has %s: a schema cannot be downgraded, so let the upgrade finish",
				f.Services[0].Ref().Arg(), installed, service.Ref().Arg(), status.InstalledRelease)
		}
		asked = asked && status.TargetRelease == "" && f.asked(service) == status.InstalledRelease
	}
	if asked {
		return "", fmt.Errorf("no upgrade is in progress: %s is installed and requested", installed)
	}
	return installed, nil
}

// asked is the image tag that the spec of the target asks for.
func (f Facts) asked(service inventory.Service) string {
	if f.ControlPlane == nil {
		return service.ServiceSpec().Image.Tag
	}
	if image := f.ownImage(service); image != nil {
		return image.Tag
	}
	return f.ControlPlane.Spec.OpenStackRelease
}

// Patch returns the merge patch that sets the release in the spec of the target. The
// services of a ControlPlane follow it.
func Patch(f Facts, to string) ([]byte, error) {
	image := map[string]any{"image": map[string]any{"tag": to}}
	if f.ControlPlane == nil {
		return json.Marshal(map[string]any{"spec": image})
	}
	series, _, _ := strings.Cut(to, "-")
	spec, services := map[string]any{"openStackRelease": series}, map[string]any{}
	for name := range ownImages(f.ControlPlane) {
		services[name] = image
	}
	if len(services) > 0 {
		spec["services"] = services
	}
	return json.Marshal(map[string]any{"spec": spec})
}
