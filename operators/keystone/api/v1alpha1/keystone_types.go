package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Keystone is an OpenStack Identity service (Keystone) with its database
// schema, keys, API pods and first administrator.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=keystones,singular=keystone,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.installedRelease`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 34",optionalOldSelf=true,message="name must be no longer than 34 characters: CronJobs are named after it"
type Keystone struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Keystone.
	//
	// +required
	Spec KeystoneSpec `json:"spec"`

	// status is the state of the Keystone, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status KeystoneStatus `json:"status,omitzero"`
}

// KeystoneList is a list of Keystones.
//
// +kubebuilder:object:root=true
type KeystoneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Keystone `json:"items"`
}

// KeystoneSpec describes a Keystone. Everything except the image, the database, the
// cache and the administrator's password has a default.
//
// +kubebuilder:validation:XValidation:rule="(has(self.preStopSleepSeconds) ? self.preStopSleepSeconds : 5) < (has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30)",fieldPath=".preStopSleepSeconds",message="preStopSleepSeconds must be less than terminationGracePeriodSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.uwsgi) || !has(self.uwsgi.harakiri) || self.uwsgi.harakiri < (has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30) - (has(self.preStopSleepSeconds) ? self.preStopSleepSeconds : 5)",fieldPath=".uwsgi.harakiri",message="harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || has(self.autoscaling.minReplicas) || !has(self.replicas) || self.replicas <= self.autoscaling.maxReplicas",fieldPath=".autoscaling.maxReplicas",message="must be at least spec.replicas when minReplicas is not set"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.bootstrap.publicEndpoint) || (isURL(self.bootstrap.publicEndpoint) && url(self.bootstrap.publicEndpoint).getScheme() == 'https' && url(self.bootstrap.publicEndpoint).getHostname() == self.gateway.hostname)",fieldPath=".bootstrap.publicEndpoint",message="publicEndpoint must be an https URL with the host of gateway.hostname"
type KeystoneSpec struct {
	// replicas is the number of API pods. With autoscaling it is only the
	// lower bound, and only if autoscaling.minReplicas is not set. The default
	// is 3.
	//
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas,omitempty"`

	// image is the container image of Keystone. Its tag starts with the
	// OpenStack release; changing the release upgrades the database schema.
	//
	// +required
	Image commonv1.ImageSpec `json:"image"`

	// imagePullSecrets name Secrets of type kubernetes.io/dockerconfigjson that every
	// pod of the Keystone uses to pull its image. When it is not set, the nodes must be
	// able to pull it on their own. Example: [{"name": "registry"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(s, size(s.name) > 0)",message="name the Secret with which the image is pulled"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// database is the MariaDB database Keystone stores its data in. The name
	// of the database and the choice between clusterRef and host cannot be
	// changed later.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self.database == oldSelf.database",fieldPath=".database",message="database name is immutable"
	// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef)",message="database mode (managed clusterRef vs brownfield host) is immutable"
	Database commonv1.DatabaseSpec `json:"database"`

	// cache is the memcached in which Keystone caches tokens and the catalog.
	//
	// +required
	Cache commonv1.CacheSpec `json:"cache"`

	// deletionPolicy determines what happens to the data when the Keystone is
	// deleted. With Retain, the database, its user, the Secrets with the keys
	// and their copies in the secret store stay, and a new Keystone of the
	// same name adopts them. With Delete, they are removed; this applies when
	// the field is not set. A database of database.host always stays, and the
	// keys with it.
	//
	// +optional
	DeletionPolicy commonv1.DeletionPolicy `json:"deletionPolicy,omitempty"`

	// fernet sets how the keys that sign tokens are rotated.
	//
	// +optional
	// +default={}
	Fernet FernetSpec `json:"fernet,omitzero"`

	// credentialKeys sets how the keys that encrypt stored credentials are
	// rotated.
	//
	// +optional
	// +default={}
	CredentialKeys CredentialKeysSpec `json:"credentialKeys,omitzero"`

	// trustFlush sets when expired trusts are deleted from the database. It is
	// on by default, every hour; set suspend to pause it.
	//
	// +optional
	// +default={}
	TrustFlush *TrustFlushSpec `json:"trustFlush,omitempty"`

	// federation turns on federated identity. When it is not set, nobody can log in by the methods mapped, openid and saml2.
	//
	// +optional
	Federation *FederationSpec `json:"federation,omitempty"`

	// bootstrap describes the first administrator, the region and the catalog
	// entry of Keystone itself.
	//
	// +required
	Bootstrap BootstrapSpec `json:"bootstrap"`

	// middleware adds filters to the request pipeline.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Middleware []commonv1.MiddlewareSpec `json:"middleware,omitempty"`

	// plugins configures plugins and drivers that the image contains, each in
	// its own section of keystone.conf.
	//
	// +optional
	// +listType=map
	// +listMapKey=configSection
	// +kubebuilder:validation:MaxItems=64
	Plugins []commonv1.PluginSpec `json:"plugins,omitempty"`

	// policyOverrides changes rules of Keystone's API policy. The rules are
	// checked against the image before they are used.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.rules) && size(self.rules) > 0) || has(self.configMapRef)",message="at least one of rules or configMapRef must be set"
	PolicyOverrides *commonv1.PolicySpec `json:"policyOverrides,omitempty"`

	// autoscaling lets the number of API pods follow their load. When it is
	// not set, the number is replicas.
	//
	// +optional
	Autoscaling *commonv1.AutoscalingSpec `json:"autoscaling,omitempty"`

	// networkPolicy restricts who can reach the API pods and what they can
	// reach. When it is not set, their traffic is not restricted.
	//
	// +optional
	NetworkPolicy *commonv1.NetworkPolicySpec `json:"networkPolicy,omitempty"`

	// gateway publishes the API through a Gateway with an HTTPRoute. When it
	// is not set, the API is reachable inside the cluster only.
	//
	// +optional
	Gateway *commonv1.GatewaySpec `json:"gateway,omitempty"`

	// resources are the CPU and memory requests and limits of an API pod. The
	// default is requests of 100m CPU and 256Mi, limits of 500m and 512Mi.
	//
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// uwsgi tunes the application server in the API pods. When it is not set,
	// each pod runs 2 processes of 1 thread with HTTP keep-alive.
	//
	// +optional
	UWSGI *commonv1.UWSGISpec `json:"uwsgi,omitempty"`

	// logging sets the format and the level of Keystone's log. The default is
	// text at level INFO.
	//
	// +optional
	// +default={}
	Logging *commonv1.LoggingSpec `json:"logging,omitempty"`

	// topologySpreadConstraints spread the API pods over the cluster; each
	// must select exactly them. When the field is not set, they spread over
	// zones and nodes as far as possible; an empty list turns spreading off.
	//
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.maxSkew >= 1)",message="maxSkew must be at least 1"
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitzero"`

	// priorityClassName is the PriorityClass of the pods. When it is not set
	// or empty, the cluster's default applies. Example:
	// "system-cluster-critical".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName *string `json:"priorityClassName,omitempty"`

	// terminationGracePeriodSeconds is the time a pod has, in seconds, to
	// finish its requests and stop. When it is not set, it is 30.
	//
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// preStopSleepSeconds is how many seconds a stopping pod continues to accept new
	// requests, so that load balancers can remove it first. It must be less than
	// terminationGracePeriodSeconds. When it is not set, it is 5.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	PreStopSleepSeconds *int64 `json:"preStopSleepSeconds,omitempty"`

	// strategy is how a new version of the API pods replaces the old one. When
	// it is not set, a new pod must be ready before an old one is stopped.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Recreate' || !has(self.rollingUpdate)",fieldPath=".rollingUpdate",message="rollingUpdate must not be set when type is Recreate"
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// extraConfig adds options to keystone.conf, by section and option, and
	// takes precedence over what the operator sets. Four options are
	// reserved, and other values of them are refused: key_repository of
	// fernet_tokens and of credential, provider of token, and proxies of
	// cache. Each value is a string. Example: {"token": {"expiration": "7200"}}.
	//
	// +optional
	ExtraConfig map[string]map[string]string `json:"extraConfig,omitempty"`

	// extraConfigSecretRef names a Secret with further options, for values
	// that are secret. The entry under key (default "keystone.conf") has the
	// format of that file: a line with the [section], then one line for each
	// option, or several for one that may have several values. These options
	// take precedence over those of extraConfig. In addition to what
	// extraConfig refuses, the Secret must not set connection of database or
	// the lifetime of tokens, which is expiration and allow_expired_window of
	// token. Example: {"name": "keystone-ldap"}.
	//
	// +optional
	ExtraConfigSecretRef *commonv1.SecretRefSpec `json:"extraConfigSecretRef,omitempty"`
}

// UpgradePhase is the step of a database upgrade from one OpenStack release to
// another.
type UpgradePhase = commonv1.UpgradePhase

// The phases of an upgrade.
const (
	UpgradePhaseExpanding     = commonv1.UpgradePhaseExpanding
	UpgradePhaseMigrating     = commonv1.UpgradePhaseMigrating
	UpgradePhaseRollingUpdate = commonv1.UpgradePhaseRollingUpdate
	UpgradePhaseContracting   = commonv1.UpgradePhaseContracting
	UpgradePhaseStopping      = commonv1.UpgradePhaseStopping
	UpgradePhaseSyncing       = commonv1.UpgradePhaseSyncing
)

// KeystoneStatus is the state of a Keystone, as the operator last observed it.
type KeystoneStatus struct {
	commonv1.ServiceStatus `json:",inline"`
}

// GetConditions returns the conditions of the status.
func (k *Keystone) GetConditions() []metav1.Condition {
	return k.Status.Conditions
}

// SetConditions replaces the conditions of the status.
func (k *Keystone) SetConditions(conditions []metav1.Condition) {
	k.Status.Conditions = conditions
}
