package report

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// advice returns the commands that help with the causes, then those that show
// more of the exhibits, then the one that waits for readiness.
func (b *builder) advice(r *Report) []string {
	if r.Ready {
		return nil
	}
	var commands []string
	for _, cause := range r.Causes {
		commands = withNew(commands, b.remedies(cause))
	}
	for _, exhibit := range r.LookAt {
		commands = withNew(commands, inspect(r.Target.Namespace, exhibit))
	}
	waits := "kubectl forge wait " + onTarget(r.Target)
	commands = commands[:min(len(commands), maxCommands-1)]
	return append(commands, waits)
}

// withNew appends the commands that are not among the others yet.
func withNew(commands, more []string) []string {
	for _, command := range more {
		if !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	return commands
}

// remedies returns the commands that help with a cause.
func (b *builder) remedies(cause Cause) []string {
	if byText := remediesByText(cause); byText != nil {
		return byText
	}
	kind := inventory.ServiceKindOf(cause.owner.Kind)
	if cause.Reason == ReasonNotObserved {
		return operatorRemedies(kind, cause.owner.Namespace)
	}
	if kind == nil {
		return controlPlaneRemedies(cause)
	}
	service := b.Service(cause.owner)
	if service == nil {
		return nil
	}
	if own := b.ownRemedies(cause, *service); own != nil {
		return own
	}
	return b.serviceRemedies(cause, *service)
}

// operatorRemedies are the commands that help with an operator that does nothing: that of
// the kind of service, or of ControlPlanes.
func operatorRemedies(kind *inventory.ServiceKind, namespace string) []string {
	app := "c5c3-operator"
	if kind != nil {
		app = kind.Operator()
	}
	return []string{"kubectl get pods --all-namespaces -l app.kubernetes.io/name=" + app, "kubectl forge doctor -n " + namespace}
}

// remediesByText returns the commands for obstacles that can be part of several
// conditions and can be recognised only by their text.
func remediesByText(cause Cause) []string {
	ns := cause.owner.Namespace
	switch {
	case strings.Contains(cause.Message, "exceeded quota"), strings.Contains(cause.Message, "failed quota"):
		return []string{kubectl(ns, "describe resourcequota")}
	case strings.Contains(cause.Message, "violates PodSecurity"):
		return []string{"kubectl get namespace " + ns + " --show-labels"}
	case strings.Contains(cause.Message, "cannot be scheduled"):
		return []string{"kubectl describe nodes"}
	}
	return nil
}

// notInstalled are the reasons that report a missing operator.
var notInstalled = []string{
	c5c3v1alpha1.ReasonMariaDBNotInstalled, c5c3v1alpha1.ReasonMemcachedNotInstalled, c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
	c5c3v1alpha1.ReasonKeystoneNotInstalled, c5c3v1alpha1.ReasonPlacementNotInstalled, c5c3v1alpha1.ReasonKORCNotInstalled,
	vocabulary.ReasonGatewayAPINotInstalled,
}

func controlPlaneRemedies(cause Cause) []string {
	ns, name := cause.owner.Namespace, cause.owner.Name
	cp := &c5c3v1alpha1.ControlPlane{}
	cp.Name = name
	switch cause.Reason {
	case c5c3v1alpha1.ReasonSecretStoreNotReady:
		return []string{describeStore}
	case c5c3v1alpha1.ReasonWaitingForDBCredentialSecret:
		return []string{kubectl(ns, "describe externalsecret "+cp.DatabaseSecretName()), describeStore}
	case c5c3v1alpha1.ReasonWaitingForAdminPasswordSecret:
		return []string{kubectl(ns, "describe externalsecret "+cp.AdminSecretName()), describeStore}
	case c5c3v1alpha1.ReasonWaitingForDatabase:
		return []string{kubectl(ns, "describe mariadbs")}
	case c5c3v1alpha1.ReasonWaitingForCache:
		return []string{kubectl(ns, "describe memcacheds")}
	case c5c3v1alpha1.ReasonRollBackRefused, c5c3v1alpha1.ReasonKeystoneProjectionRejected,
		c5c3v1alpha1.ReasonPlacementProjectionRejected, vocabulary.ReasonInvalidSpec:
		return []string{kubectl(ns, "edit controlplane "+name)}
	case c5c3v1alpha1.ReasonWaitingForApplicationCredential, c5c3v1alpha1.ReasonApplicationCredentialFailed,
		c5c3v1alpha1.ReasonReMinting, c5c3v1alpha1.ReasonReMintStalled:
		return []string{kubectl(ns, "describe applicationcredentials.openstack.k-orc.cloud "+cp.ApplicationCredentialName())}
	case c5c3v1alpha1.ReasonWaitingForCatalog, c5c3v1alpha1.ReasonCatalogFailed:
		return []string{kubectl(ns, "describe services.openstack.k-orc.cloud "+cp.IdentityServiceName())}
	case c5c3v1alpha1.ReasonEndpointRegionError:
		return regionRemedies(cause, cp)
	case c5c3v1alpha1.ReasonWaitingForPushSecret, c5c3v1alpha1.ReasonCloudsYamlSyncStuck:
		return []string{kubectl(ns, "describe pushsecret "+cp.CredentialPushName()), describeStore}
	}
	if slices.Contains(notInstalled, cause.Reason) {
		return []string{"kubectl forge doctor -n " + ns}
	}
	return []string{kubectl(ns, "describe controlplane "+name)}
}

// regionRemedies follow what the message says is in the way.
func regionRemedies(cause Cause, cp *c5c3v1alpha1.ControlPlane) []string {
	ns := cause.owner.Namespace
	switch {
	case strings.Contains(cause.Message, "refuses the administrator's password"):
		return []string{kubectl(ns, "describe externalsecret "+cp.AdminSecretName()), describeStore}
	case strings.Contains(cause.Message, "let the operator reach"):
		return []string{kubectl(ns, "describe keystone "+cp.KeystoneName())}
	}
	return []string{kubectl(ns, "get endpoints.openstack.k-orc.cloud")}
}

func (b *builder) serviceRemedies(cause Cause, service inventory.Service) []string {
	ns, spec := service.GetNamespace(), service.ServiceSpec()
	switch cause.Reason {
	case vocabulary.ReasonWaitingForDBCredentials:
		return createSecret(ns, spec.Database.SecretRef.Name, "--from-literal=username=USER", commonv1.DatabasePasswordKey)
	case vocabulary.ReasonWaitingForExtraConfig:
		if ref := spec.ExtraConfigSecretRef; ref != nil {
			return createSecret(ns, ref.Name, "", cmp.Or(ref.Key, service.Of.ConfigFile()))
		}
	case vocabulary.ReasonSecretStoreNotReady:
		return []string{describeStore}
	case vocabulary.ReasonClusterNotReady, vocabulary.ReasonWaitingForDatabase:
		return describeDatabase(service)
	case vocabulary.ReasonExpandFailed, vocabulary.ReasonMigrateFailed, vocabulary.ReasonUpgradeTargetChanged,
		vocabulary.ReasonDowngradeNotSupported, vocabulary.ReasonUpgradePathInvalid, vocabulary.ReasonVersionParseError:
		if b.canAbort(service) && !service.ServiceStatus().UpgradePhase.IsFinal() {
			return []string{b.abort(service)}
		}
		return describeDatabase(service)
	case vocabulary.ReasonDatabaseNewerThanImage:
		return b.abortOr(service, editOwner(b.releaseOwner(service)))
	case vocabulary.ReasonUpgradeAbortRefused:
		return []string{"kubectl forge upgrade " + onTarget(b.releaseOwner(service)) + " --to " + service.ServiceStatus().TargetRelease}
	case vocabulary.ReasonConfigError, vocabulary.ReasonInvalidSpec, vocabulary.ReasonPolicyValidationFailed:
		return []string{editOwner(b.releaseOwner(service))}
	}
	return b.serviceRemediesByText(cause, service)
}

// isChanging reports whether the service is on the way to another image than the one that
// is installed, and can still go back to that.
func isChanging(service inventory.Service) bool {
	status := service.ServiceStatus()
	return status.InstalledRelease != "" && status.InstalledRelease != service.ServiceSpec().Image.Tag && !status.UpgradePhase.IsFinal()
}

func (b *builder) abort(service inventory.Service) string {
	return "kubectl forge upgrade " + onTarget(b.releaseOwner(service)) + " --abort"
}

// abortOr returns the edit, after the way back to the installed image if the service has
// one: the new image may be at fault.
func (b *builder) abortOr(service inventory.Service, edit string) []string {
	if isChanging(service) && b.canAbort(service) {
		return []string{b.abort(service), edit}
	}
	return []string{edit}
}

// canAbort reports whether no other service of the ControlPlane has left the release that
// the service has: their schemas cannot be downgraded.
func (b *builder) canAbort(service inventory.Service) bool {
	owner := b.releaseOwner(service)
	cp := b.ControlPlane(owner.Name)
	if owner.Kind != inventory.KindControlPlane || cp == nil {
		return true
	}
	installed := service.ServiceStatus().InstalledRelease
	return !slices.ContainsFunc(b.ServicesOf(cp), func(other inventory.Service) bool {
		has := other.ServiceStatus().InstalledRelease
		return installed != "" && has != "" && !inventory.SameRelease(has, installed)
	})
}

// serviceRemediesByText handles the causes that Jobs quote.
func (b *builder) serviceRemediesByText(cause Cause, service inventory.Service) []string {
	ns := service.GetNamespace()
	switch {
	case slices.Contains(notInstalled, cause.Reason):
		return []string{"kubectl forge doctor -n " + ns}
	case cause.Reason == vocabulary.ReasonConfigCheckInProgress && strings.Contains(cause.Message, "ended with exit code"):
		return []string{editOwner(b.releaseOwner(service))}
	case strings.Contains(cause.Message, "cannot pull image"), strings.Contains(cause.Message, "cannot use image"):
		return b.abortOr(service, editOwner(b.releaseOwner(service)))
	case strings.Contains(cause.Message, "Access denied"), b.denied(cause):
		return []string{kubectl(ns, "edit secret "+service.ServiceSpec().Database.SecretRef.Name)}
	case strings.Contains(cause.Message, "Can't connect"), strings.Contains(cause.Message, "Lost connection"),
		strings.Contains(cause.Message, "a login to the database"), cause.Reason == keystonev1alpha1.ReasonDatabaseUnavailable:
		return describeDatabase(service)
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

// releaseOwner is the object in which the release and the image of a service are set.
func (b *builder) releaseOwner(service inventory.Service) inventory.Ref {
	for i := range b.ControlPlanes {
		if cp := &b.ControlPlanes[i]; inventory.OwnedBy(service, cp.UID) {
			return inventory.Ref{Kind: inventory.KindControlPlane, Namespace: cp.Namespace, Name: cp.Name}
		}
	}
	return service.Ref()
}
