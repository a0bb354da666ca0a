// Package upgrade decides whether an upgrade can begin or be rolled back, and describes
// its progress. It makes no request.
package upgrade

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Facts are what an upgrade depends on.
type Facts struct {
	// ControlPlane is nil when the Keystone belongs to none.
	ControlPlane *c5c3v1alpha1.ControlPlane
	Keystone     *keystonev1alpha1.Keystone
}

// Target is the object whose spec has the release.
func (f Facts) Target() inventory.Ref {
	if f.ControlPlane != nil {
		return inventory.Ref{Kind: inventory.KindControlPlane, Namespace: f.ControlPlane.Namespace, Name: f.ControlPlane.Name}
	}
	return inventory.Ref{Kind: inventory.KindKeystone, Namespace: f.Keystone.Namespace, Name: f.Keystone.Name}
}

// ownImage reports whether the user has set an image on the ControlPlane, whose
// tag is then the release.
func (f Facts) ownImage() bool {
	return f.ControlPlane != nil && f.ControlPlane.Spec.Services.Keystone != nil && f.ControlPlane.Spec.Services.Keystone.Image != nil
}

// Preflight checks for what would block an upgrade to the release.
func Preflight(f Facts, to string) []check.Finding {
	findings := []check.Finding{f.checkRelease(to), f.checkRunning(to), f.checkReady()}
	if finding := f.checkStrategy(); finding != nil {
		findings = append(findings, *finding)
	}
	if finding := f.checkBackup(); finding != nil {
		findings = append(findings, *finding)
	}
	image := f.Keystone.Spec.Image
	return append(findings, check.Finding{
		Name: "Image", Result: check.OK,
		Text: fmt.Sprintf("the nodes have to be able to pull %s:%s; the first Job tries it before anything changes", image.Repository, to),
	})
}

func failed(name, format string, args ...any) check.Finding {
	return check.Finding{Name: name, Result: check.Failed, Text: fmt.Sprintf(format, args...)}
}

func fine(name, format string, args ...any) check.Finding {
	return check.Finding{Name: name, Result: check.OK, Text: fmt.Sprintf(format, args...)}
}

func (f Facts) checkRelease(to string) check.Finding {
	const name = "Release"
	target, err := release.Parse(to)
	if err != nil {
		return failed(name, "%s", err)
	}
	if f.ControlPlane != nil && target.Suffix != "" && !f.ownImage() {
		return failed(name, "another build of a release needs services.keystone.image in ControlPlane %s: set it first", f.ControlPlane.Name)
	}
	if f.Keystone.Status.InstalledRelease == "" {
		return failed(name, "no release is installed yet, so there is nothing to upgrade: wait until it is ready")
	}
	installed, err := release.Parse(f.Keystone.Status.InstalledRelease)
	if err != nil {
		return failed(name, "the installed release cannot be parsed: %s", err)
	}
	switch release.Classify(installed, target) {
	case release.None:
		if f.Keystone.Status.TargetRelease != "" {
			return failed(name, "%s is the installed release: use --abort to roll back to it", to)
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

func (f Facts) checkRunning(to string) check.Finding {
	const name = "Running upgrade"
	status := f.Keystone.Status
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

func (f Facts) checkReady() check.Finding {
	const name = "Ready"
	conditions := f.Keystone.Status.Conditions
	if f.ControlPlane != nil {
		conditions = f.ControlPlane.Status.Conditions
	}
	switch {
	case f.Keystone.Status.TargetRelease != "":
		return fine(name, "not before the upgrade has finished")
	case meta.IsStatusConditionTrue(conditions, keystonev1alpha1.ConditionReady):
		return fine(name, "%s is ready", f.Target().Arg())
	}
	return failed(name, "%s is not ready: see \"kubectl forge status %s\"", f.Target().Arg(), f.Target().Arg())
}

func (f Facts) checkStrategy() *check.Finding {
	strategy := f.Keystone.Spec.Strategy
	if strategy == nil || strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return nil
	}
	return &check.Finding{
		Name: "Rollout", Result: check.Warning,
		Text: "spec.strategy is Recreate: requests fail between the last old pod and the first new one",
	}
}

func (f Facts) checkBackup() *check.Finding {
	backup := meta.FindStatusCondition(f.Keystone.Status.Conditions, keystonev1alpha1.ConditionBackupHealthy)
	if backup == nil || backup.Status == "True" {
		return nil
	}
	return &check.Finding{Name: "Backup of the keys", Result: check.Warning, Text: backup.Message}
}

// AbortTarget returns the release to roll back to.
func AbortTarget(f Facts) (string, error) {
	status := f.Keystone.Status
	switch {
	case status.InstalledRelease == "":
		return "", errors.New("no release is installed yet, so there is none to roll back to")
	case status.UpgradePhase == keystonev1alpha1.UpgradePhaseContracting:
		return "", fmt.Errorf("the upgrade to %s is in phase Contracting and can no longer be rolled back: "+
			"the schema no longer fits %s", status.TargetRelease, status.InstalledRelease)
	case status.TargetRelease == "" && f.asked() == status.InstalledRelease:
		return "", fmt.Errorf("no upgrade is in progress: %s is installed and requested", status.InstalledRelease)
	}
	return status.InstalledRelease, nil
}

// asked is the image tag that the spec asks for.
func (f Facts) asked() string {
	switch {
	case f.ControlPlane == nil:
		return f.Keystone.Spec.Image.Tag
	case f.ownImage():
		return f.ControlPlane.Spec.Services.Keystone.Image.Tag
	}
	return f.ControlPlane.Spec.OpenStackRelease
}

// Apply sets the release in the spec of the target, which it returns as it should
// be. The Keystone of a ControlPlane stays as it is.
func Apply(f Facts, to string) Facts {
	if f.ControlPlane == nil {
		changed := f.Keystone.DeepCopy()
		changed.Spec.Image.Tag = to
		return Facts{Keystone: changed}
	}
	changed := f.ControlPlane.DeepCopy()
	changed.Spec.OpenStackRelease, _, _ = strings.Cut(to, "-")
	if f.ownImage() {
		changed.Spec.Services.Keystone.Image.Tag = to
	}
	return Facts{ControlPlane: changed, Keystone: f.Keystone}
}
