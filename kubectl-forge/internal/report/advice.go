package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// maxCommands bounds the advice: a user types one command at a time.
const maxCommands = 6

// advice returns the commands that help with the causes, then those that show
// more of the exhibits, then the one that waits for readiness.
func (b *builder) advice(r *Report) []string {
	if r.Ready {
		return nil
	}
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
		add(inspect(r.Target.Namespace, exhibit)...)
	}
	waits := "kubectl forge wait " + onTarget(r.Target)
	commands = commands[:min(len(commands), maxCommands-1)]
	return append(commands, waits)
}

func onTarget(ref inventory.Ref) string { return ref.Arg() + " -n " + ref.Namespace }

func kubectl(namespace, command string) string { return "kubectl -n " + namespace + " " + command }

// inspect returns the command that shows details of an exhibit.
func inspect(namespace string, exhibit Exhibit) []string {
	if exhibit.Kind == kindPod && exhibit.Container != "" {
		command := fmt.Sprintf("logs %s -c %s", exhibit.Name, exhibit.Container)
		if exhibit.Previous {
			command += " --previous"
		}
		return []string{kubectl(namespace, command)}
	}
	return []string{kubectl(namespace, fmt.Sprintf("describe %s %s", strings.ToLower(exhibit.Kind), exhibit.Name))}
}

// remedies returns the commands that help with a cause.
func (b *builder) remedies(cause Cause) []string {
	if byText := remediesByText(cause); byText != nil {
		return byText
	}
	if cause.Reason == ReasonNotObserved {
		app := "keystone-operator"
		if cause.owner.Kind == inventory.KindControlPlane {
			app = "c5c3-operator"
		}
		return []string{"kubectl get pods --all-namespaces -l app.kubernetes.io/name=" + app, "kubectl forge doctor -n " + cause.owner.Namespace}
	}
	if cause.owner.Kind == inventory.KindControlPlane {
		return controlPlaneRemedies(cause)
	}
	k := b.Keystone(cause.owner.Name)
	if k == nil {
		return nil
	}
	return b.keystoneRemedies(cause, k)
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

const describeStore = "kubectl describe clustersecretstore " + secrets.StoreName

// notInstalled are the reasons that report a missing operator.
var notInstalled = []string{
	c5c3v1alpha1.ReasonMariaDBNotInstalled, c5c3v1alpha1.ReasonMemcachedNotInstalled, c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
	c5c3v1alpha1.ReasonKeystoneNotInstalled, c5c3v1alpha1.ReasonKORCNotInstalled, keystonev1alpha1.ReasonGatewayAPINotInstalled,
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
	case c5c3v1alpha1.ReasonRollBackRefused, c5c3v1alpha1.ReasonKeystoneProjectionRejected, c5c3v1alpha1.ReasonInvalidSpec:
		return []string{kubectl(ns, "edit controlplane "+name)}
	case c5c3v1alpha1.ReasonWaitingForApplicationCredential, c5c3v1alpha1.ReasonApplicationCredentialFailed,
		c5c3v1alpha1.ReasonReMinting, c5c3v1alpha1.ReasonReMintStalled:
		return []string{kubectl(ns, "describe applicationcredentials.openstack.k-orc.cloud "+cp.ApplicationCredentialName())}
	case c5c3v1alpha1.ReasonWaitingForCatalog, c5c3v1alpha1.ReasonCatalogFailed:
		return []string{kubectl(ns, "describe services.openstack.k-orc.cloud "+cp.IdentityServiceName())}
	case c5c3v1alpha1.ReasonEndpointRegionError:
		return []string{kubectl(ns, "get endpoints.openstack.k-orc.cloud")}
	case c5c3v1alpha1.ReasonWaitingForPushSecret, c5c3v1alpha1.ReasonCloudsYamlSyncStuck:
		return []string{kubectl(ns, "describe pushsecret "+cp.CredentialPushName()), describeStore}
	}
	if slices.Contains(notInstalled, cause.Reason) {
		return []string{"kubectl forge doctor -n " + ns}
	}
	return []string{kubectl(ns, "describe controlplane "+name)}
}

func (b *builder) keystoneRemedies(cause Cause, k *keystonev1alpha1.Keystone) []string {
	ns, spec := k.Namespace, &k.Spec
	switch cause.Reason {
	case keystonev1alpha1.ReasonWaitingForDBCredentials:
		return createSecret(ns, spec.Database.SecretRef.Name, "--from-literal=username=USER", commonv1.DatabasePasswordKey)
	case keystonev1alpha1.ReasonWaitingForAdminCredentials:
		ref := spec.Bootstrap.AdminPasswordSecretRef
		return createSecret(ns, ref.Name, "", keyOr(ref.Key, "password"))
	case keystonev1alpha1.ReasonWaitingForExtraConfig:
		if ref := spec.ExtraConfigSecretRef; ref != nil {
			return createSecret(ns, ref.Name, "", keyOr(ref.Key, "keystone.conf"))
		}
	case keystonev1alpha1.ReasonSecretStoreNotReady:
		return []string{describeStore}
	case keystonev1alpha1.ReasonClusterNotReady, keystonev1alpha1.ReasonWaitingForDatabase:
		return describeDatabase(k)
	case keystonev1alpha1.ReasonExpandFailed, keystonev1alpha1.ReasonMigrateFailed, keystonev1alpha1.ReasonUpgradeTargetChanged,
		keystonev1alpha1.ReasonDowngradeNotSupported, keystonev1alpha1.ReasonUpgradePathInvalid, keystonev1alpha1.ReasonVersionParseError:
		return []string{"kubectl forge upgrade " + onTarget(b.releaseOwner(k)) + " --abort"}
	case keystonev1alpha1.ReasonUpgradeAbortRefused:
		return []string{"kubectl forge upgrade " + onTarget(b.releaseOwner(k)) + " --to " + k.Status.TargetRelease}
	case keystonev1alpha1.ReasonAdminPasswordRefused:
		return []string{kubectl(ns, fmt.Sprintf("annotate keystone %s --overwrite %s=\"$(date +%%s)\"",
			k.Name, keystonev1alpha1.AnnotationRunAgain))}
	case keystonev1alpha1.ReasonAdminPasswordWriteNotAllowed:
		return []string{kubectl(ns, fmt.Sprintf("label secret %s %s=true", spec.Bootstrap.AdminPasswordSecretRef.Name, commonv1.LabelAllowWrite))}
	case keystonev1alpha1.ReasonRotationFailed:
		if what := rotationOf[cause.Condition]; what != "" {
			return []string{fmt.Sprintf("kubectl forge rotate %s %s", what, onTarget(cause.owner))}
		}
	case keystonev1alpha1.ReasonConfigError, keystonev1alpha1.ReasonInvalidSpec, keystonev1alpha1.ReasonPolicyValidationFailed:
		return []string{editOwner(b.releaseOwner(k))}
	}
	return b.keystoneRemediesByText(cause, k)
}

// rotationOf returns what has to be rotated again if the condition says that a
// rotation failed.
var rotationOf = map[string]string{
	keystonev1alpha1.ConditionFernetKeysReady:       "fernet",
	keystonev1alpha1.ConditionCredentialKeysReady:   "credential",
	keystonev1alpha1.ConditionPasswordRotationReady: "password",
}

// keystoneRemediesByText handles the causes that Jobs quote.
func (b *builder) keystoneRemediesByText(cause Cause, k *keystonev1alpha1.Keystone) []string {
	switch {
	case slices.Contains(notInstalled, cause.Reason):
		return []string{"kubectl forge doctor -n " + k.Namespace}
	case cause.Reason == keystonev1alpha1.ReasonConfigCheckInProgress && strings.Contains(cause.Message, "ended with exit code"):
		return []string{editOwner(b.releaseOwner(k))}
	case strings.Contains(cause.Message, "cannot pull image"), strings.Contains(cause.Message, "cannot use image"):
		return []string{editOwner(b.releaseOwner(k))}
	case strings.Contains(cause.Message, "Access denied"):
		return []string{kubectl(k.Namespace, "edit secret "+k.Spec.Database.SecretRef.Name)}
	case strings.Contains(cause.Message, "Can't connect"), strings.Contains(cause.Message, "Lost connection"),
		strings.Contains(cause.Message, "a login to the database"), cause.Reason == keystonev1alpha1.ReasonDatabaseUnavailable:
		return describeDatabase(k)
	}
	return nil
}

// releaseOwner is the object in which the release and the image of a Keystone are set.
func (b *builder) releaseOwner(k *keystonev1alpha1.Keystone) inventory.Ref {
	for i := range b.ControlPlanes {
		if cp := &b.ControlPlanes[i]; inventory.OwnedBy(k, cp.UID) {
			return inventory.Ref{Kind: inventory.KindControlPlane, Namespace: k.Namespace, Name: cp.Name}
		}
	}
	return inventory.Ref{Kind: inventory.KindKeystone, Namespace: k.Namespace, Name: k.Name}
}

func editOwner(ref inventory.Ref) string {
	return kubectl(ref.Namespace, "edit "+strings.ToLower(ref.Kind)+" "+ref.Name)
}

// createSecret returns the command that creates a Secret. The value comes from a
// file: an argument would be visible in the process list and in the shell's history.
func createSecret(namespace, name, literal, key string) []string {
	command := "create secret generic " + name
	if literal != "" {
		command += " " + literal
	}
	return []string{kubectl(namespace, fmt.Sprintf("%s --from-file=%s=FILE", command, key)), kubectl(namespace, "describe secret "+name)}
}

func keyOr(key, fallback string) string {
	if key == "" {
		return fallback
	}
	return key
}

// describeDatabase returns the command that shows whether the database can be
// reached.
func describeDatabase(k *keystonev1alpha1.Keystone) []string {
	database := k.Spec.Database
	if database.ClusterRef != nil {
		return []string{kubectl(k.Namespace, "describe mariadb "+database.ClusterRef.Name)}
	}
	service, rest, _ := strings.Cut(database.Host, ".")
	namespace, kind, _ := strings.Cut(rest, ".")
	switch {
	case rest == "" && service != "":
		namespace = k.Namespace
	case kind != "svc" && !strings.HasPrefix(kind, "svc."):
		return []string{kubectl(k.Namespace, "get keystone "+k.Name+" -o jsonpath={.spec.database}")}
	}
	return []string{kubectl(namespace, "get endpointslices -l kubernetes.io/service-name="+service)}
}
