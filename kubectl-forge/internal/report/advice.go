package report

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// maxCommands bounds the advice: a user types one command at a time.
const maxCommands = 6

// advice returns the commands that help with the causes, then those that show
// more of the exhibits, then the one that waits for readiness.
func (b *builder) advice(r *Report) []string {
	var commands []string
	add := func(more ...string) {
		for _, command := range more {
			if !slices.Contains(commands, command) {
				commands = append(commands, command)
			}
		}
	}
	for _, cause := range r.Causes {
		add(b.remedies(cause)...)
	}
	for _, exhibit := range r.LookAt {
		add(exhibit.command(r.Target.Namespace))
	}
	commands = commands[:min(len(commands), maxCommands-1)]
	if slices.ContainsFunc(r.Causes, func(cause Cause) bool { return cause.Reason == vocabulary.ReasonHibernated }) {
		return commands
	}
	return append(commands, "kubectl forge wait "+onTarget(r.Target))
}

// remedies returns the commands for a cause that its message does not imply: those of this
// plugin, and those that show what the message is about.
func (b *builder) remedies(cause Cause) []string {
	ns := cause.owner.Namespace
	service, isService := b.Find(cause.owner).(inventory.Instance)
	switch {
	case cause.Reason == ReasonNotObserved:
		return []string{
			"kubectl get pods --all-namespaces -l " + labelName + "=" + inventory.OperatorOf(cause.owner.Kind), "kubectl forge doctor -n " + ns,
		}
	case strings.HasSuffix(cause.Reason, "NotInstalled"):
		return []string{"kubectl forge doctor -n " + ns}
	case cause.Reason == vocabulary.ReasonSecretStoreNotReady:
		return []string{describeStores}
	case cause.Reason == c5c3v1alpha1.ReasonEndpointRegionError:
		return []string{kubectl(ns, "get endpoints.openstack.k-orc.cloud")}
	case strings.Contains(cause.Message, "exceeded quota"), strings.Contains(cause.Message, "failed quota"):
		return []string{kubectl(ns, "describe resourcequota")}
	case strings.Contains(cause.Message, "violates PodSecurity"):
		return []string{"kubectl get namespace " + ns + " --show-labels"}
	case strings.Contains(cause.Message, "cannot be scheduled"):
		return []string{"kubectl describe nodes"}
	case isService:
		return b.serviceRemedies(cause, service)
	}
	return nil
}

func (b *builder) serviceRemedies(cause Cause, service inventory.Instance) []string {
	owner := releaseOwner(service)
	switch cause.Reason {
	case vocabulary.ReasonClusterNotReady, vocabulary.ReasonWaitingForDatabase, keystonev1alpha1.ReasonDatabaseUnavailable:
		return []string{describeDatabase(service)}
	case vocabulary.ReasonExpandFailed, vocabulary.ReasonMigrateFailed, vocabulary.ReasonUpgradeTargetChanged,
		vocabulary.ReasonDowngradeNotSupported, vocabulary.ReasonUpgradePathInvalid, vocabulary.ReasonVersionParseError:
		if b.canAbort(service) {
			return []string{abort(owner)}
		}
		return []string{describeDatabase(service)}
	case vocabulary.ReasonUpgradeAbortRefused:
		return []string{fmt.Sprintf("kubectl forge upgrade %s --to %s", onTarget(owner), service.ServiceStatus().TargetRelease)}
	case vocabulary.ReasonDatabaseNewerThanImage:
		return b.correctImage(service, edit(owner))
	case vocabulary.ReasonConfigError, vocabulary.ReasonInvalidSpec, vocabulary.ReasonPolicyValidationFailed:
		return []string{edit(owner)}
	case vocabulary.ReasonServiceUserRefused:
		if user, has := service.Resource.(commonv1.ServiceUserDescriber); has {
			return b.correctImage(service, kubectl(owner.Namespace, "edit secret %s", user.ServiceUser().SecretRef.Name))
		}
	case keystonev1alpha1.ReasonRotationFailed:
		if what := rotationOf[cause.Condition]; what != "" {
			return []string{"kubectl forge rotate " + what + " " + onTarget(cause.owner)}
		}
	}
	return b.remediesByText(cause, service)
}

// rotationOf returns what has to be rotated again if the condition says that a
// rotation failed.
var rotationOf = map[string]string{
	keystonev1alpha1.ConditionFernetKeysReady:       "fernet",
	keystonev1alpha1.ConditionCredentialKeysReady:   "credential",
	keystonev1alpha1.ConditionPasswordRotationReady: "password",
}

// remediesByText handles what Jobs and pods quote.
func (b *builder) remediesByText(cause Cause, service inventory.Instance) []string {
	contains := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(cause.Message, text) })
	}
	owner, data := releaseOwner(service), commonv1.DataOf(service.Resource)
	switch {
	case cause.Reason == vocabulary.ReasonConfigCheckInProgress && contains("ended with exit code"):
		return []string{edit(owner)}
	case contains("cannot pull image", "cannot use image"):
		return b.correctImage(service, edit(owner))
	case data == nil:
		return nil
	case contains("Access denied"), b.denied(cause):
		return []string{kubectl(owner.Namespace, "edit secret %s", data.Database.SecretRef.Name)}
	case contains("Can't connect", "Lost connection", "a login to the database"):
		return []string{describeDatabase(service)}
	}
	return nil
}

// accessDenied is how the log of an API pod quotes MariaDB's ER_ACCESS_DENIED_ERROR.
const accessDenied = "(error 1045)"

// denied reports whether the database refuses the user of a pod that the cause names.
func (b *builder) denied(cause Cause) bool {
	return slices.ContainsFunc(b.Pods, func(pod corev1.Pod) bool {
		return strings.Contains(cause.Message, "pod "+pod.Name+" ") && strings.Contains(b.Unready[pod.UID], accessDenied)
	})
}

// correctImage returns the correction, after the way back to the installed image if the service is on the way to
// another one: that may be at fault.
func (b *builder) correctImage(service inventory.Instance, correction string) []string {
	installed := service.ServiceStatus().InstalledRelease
	if installed != "" && installed != service.ServiceSpec().Image.Tag && b.canAbort(service) {
		return []string{abort(releaseOwner(service)), correction}
	}
	return []string{correction}
}

// canAbort reports whether the service can go back to the release that it has: the phase allows it, and no other
// service of the ControlPlane has left that release, as schemas cannot be downgraded.
func (b *builder) canAbort(service inventory.Instance) bool {
	installed, owner := service.ServiceStatus().InstalledRelease, metav1.GetControllerOf(service)
	return !service.ServiceStatus().UpgradePhase.IsFinal() && !slices.ContainsFunc(b.Services, func(other inventory.Instance) bool {
		has := other.ServiceStatus().InstalledRelease
		return owner != nil && inventory.OwnedBy(other, owner.UID) && installed != "" && has != "" && !inventory.SameRelease(has, installed)
	})
}
