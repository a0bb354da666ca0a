package types

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// ServiceSpec describes what every OpenStack API service has: an image, a database,
// a cache, configuration, and pods behind a Service. A kind embeds it and adds the
// fields that are specific to its service.
//
// +kubebuilder:validation:XValidation:rule="(has(self.preStopSleepSeconds) ? self.preStopSleepSeconds : 5) < (has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30)",fieldPath=".preStopSleepSeconds",message="preStopSleepSeconds must be less than terminationGracePeriodSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.uwsgi) || !has(self.uwsgi.harakiri) || self.uwsgi.harakiri < (has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30) - (has(self.preStopSleepSeconds) ? self.preStopSleepSeconds : 5)",fieldPath=".uwsgi.harakiri",message="harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || has(self.autoscaling.minReplicas) || !has(self.replicas) || self.replicas <= self.autoscaling.maxReplicas",fieldPath=".autoscaling.maxReplicas",message="must be at least spec.replicas when minReplicas is not set"
type ServiceSpec struct {
	// replicas is the number of API pods. With autoscaling it is only the
	// lower bound, and only if autoscaling.minReplicas is not set. The default
	// is 3.
	//
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas,omitempty"`

	// image is the container image of the service. Its tag starts with the
	// OpenStack release; changing the release upgrades the database schema.
	//
	// +required
	Image ImageSpec `json:"image"`

	// imagePullSecrets name Secrets of type kubernetes.io/dockerconfigjson that every
	// pod of the service uses to pull its image. When it is not set, the nodes must be
	// able to pull it on their own. Example: [{"name": "registry"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(s, size(s.name) > 0)",message="name the Secret with which the image is pulled"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// database is the MariaDB database the service stores its data in. The name
	// of the database and the choice between clusterRef and host cannot be
	// changed later.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self.database == oldSelf.database",fieldPath=".database",message="database name is immutable"
	// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef)",message="database mode (managed clusterRef vs brownfield host) is immutable"
	Database DatabaseSpec `json:"database"`

	// cache is the memcached that the service uses.
	//
	// +required
	Cache CacheSpec `json:"cache"`

	// deletionPolicy determines what happens to the data when the resource is deleted.
	// With Retain, the database and its user stay, with the keys that its content
	// needs, and a new resource of the same name adopts them. With Delete, they are
	// removed; this applies when the field is not set. A database of database.host
	// always stays.
	//
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// policyOverrides changes rules of the service's API policy. The rules are
	// checked against the image before they are used.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.rules) && size(self.rules) > 0) || has(self.configMapRef)",message="at least one of rules or configMapRef must be set"
	PolicyOverrides *PolicySpec `json:"policyOverrides,omitempty"`

	// autoscaling lets the number of API pods follow their load. When it is
	// not set, the number is replicas.
	//
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// networkPolicy restricts who can reach the API pods and what they can
	// reach. When it is not set, their traffic is not restricted.
	//
	// +optional
	NetworkPolicy *NetworkPolicySpec `json:"networkPolicy,omitempty"`

	// gateway publishes the API through a Gateway with an HTTPRoute. When it
	// is not set, the API is reachable inside the cluster only.
	//
	// +optional
	Gateway *GatewaySpec `json:"gateway,omitempty"`

	// resources are the CPU and memory requests and limits of an API pod. The
	// default is requests of 100m CPU and 256Mi, limits of 500m and 512Mi.
	//
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// uwsgi tunes the application server in the API pods. When it is not set,
	// each pod runs 2 processes of 1 thread with HTTP keep-alive.
	//
	// +optional
	UWSGI *UWSGISpec `json:"uwsgi,omitempty"`

	// logging sets the format and the level of the service's log. The default
	// is text at level INFO.
	//
	// +optional
	// +default={}
	Logging *LoggingSpec `json:"logging,omitempty"`

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

	// extraConfig adds options to the service's configuration file, by section and
	// option, and takes precedence over what the operator sets. The description of
	// spec names the options that are reserved, if there are any. Each value is a
	// string. Example: {"DEFAULT": {"debug": "true"}}.
	//
	// +optional
	ExtraConfig map[string]map[string]string `json:"extraConfig,omitempty"`

	// extraConfigSecretRef names a Secret with further options, for values that are
	// secret. The entry under key has the format of the service's configuration file,
	// whose name is the default key: a line with the [section], then one line for each
	// option, or several for one that may have several values. These options take
	// precedence over those of extraConfig.
	// Example: {"name": "ldap-options"}.
	//
	// +optional
	ExtraConfigSecretRef *SecretRefSpec `json:"extraConfigSecretRef,omitempty"`
}

// KeepsData reports whether the database stays when the resource is deleted.
func (s *ServiceSpec) KeepsData() bool {
	return s.DeletionPolicy == DeletionPolicyRetain || !s.Database.IsManaged()
}

// TerminationGracePeriod returns the seconds between the signal to stop and the
// one that kills.
func (s *ServiceSpec) TerminationGracePeriod() int64 {
	if s.TerminationGracePeriodSeconds == nil {
		return DefaultTerminationGracePeriodSeconds
	}
	return *s.TerminationGracePeriodSeconds
}

// PreStopSleep returns for how many seconds a stopping pod continues to accept new requests.
func (s *ServiceSpec) PreStopSleep() int64 {
	if s.PreStopSleepSeconds == nil {
		return DefaultPreStopSleepSeconds
	}
	return *s.PreStopSleepSeconds
}
