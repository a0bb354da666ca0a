package types

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// ServiceSpec describes the common parts of every OpenStack API service: an image, a
// cache, and pods behind a Service. A kind embeds it and adds the fields of its service: a
// service with a database also embeds [DataSpec], and one with a configuration file of
// oslo.config [OptionsSpec].
//
// +kubebuilder:validation:XValidation:rule="(has(self.preStopSleepSeconds) ? self.preStopSleepSeconds : 5) < (has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30)",fieldPath=".preStopSleepSeconds",message="preStopSleepSeconds must be less than terminationGracePeriodSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.uwsgi) || !has(self.uwsgi.harakiri) || self.uwsgi.harakiri < (has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30) - (has(self.preStopSleepSeconds) ? self.preStopSleepSeconds : 5)",fieldPath=".uwsgi.harakiri",message="harakiri must be less than terminationGracePeriodSeconds minus preStopSleepSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || has(self.autoscaling.minReplicas) || !has(self.replicas) || self.replicas <= self.autoscaling.maxReplicas",fieldPath=".autoscaling.maxReplicas",message="must be at least spec.replicas when minReplicas is not set"
type ServiceSpec struct {
	// replicas is the number of API pods. With autoscaling it is the minimum if
	// autoscaling.minReplicas is not set, and has no effect otherwise. The default is 3.
	//
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas,omitempty"`

	// image is the container image of the service. Its tag starts with the
	// OpenStack release; changing the release upgrades the database schema, if there is one.
	//
	// +required
	Image ImageSpec `json:"image"`

	// imagePullSecrets name Secrets of type kubernetes.io/dockerconfigjson that every pod
	// of the service uses to pull its image. When it is not set, the nodes must be able to
	// pull the image without them. Example: [{"name": "registry"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(s, size(s.name) > 0)",message="name the Secret with which the image is pulled"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// cache is the memcached that the service uses.
	//
	// +required
	Cache CacheSpec `json:"cache"`

	// hibernation stops everything that runs for the service: the API pods, Jobs, and
	// schedules such as those of rotations. Data, keys and passwords stay. An upgrade that has
	// begun ends first. While the service hibernates, other changes of spec have no effect.
	// When it is not set or false, the service runs.
	//
	// +optional
	Hibernation *bool `json:"hibernation,omitempty"`

	// autoscaling lets the number of API pods follow their load. When it is not set,
	// replicas is the number of pods.
	//
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// networkPolicy restricts the traffic to and from the API pods. When it is not set, the
	// traffic is unrestricted.
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

	// topologySpreadConstraints spread the API pods over the cluster. Each constraint must
	// select exactly these pods. When the field is not set, the pods spread over zones and
	// nodes as far as possible; an empty list turns spreading off.
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

	PodSettings `json:",inline"`

	// terminationGracePeriodSeconds is the time in seconds for a pod to finish its requests
	// and stop. When it is not set, it is 30.
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

	// strategy determines how new API pods replace old ones. When it is not set, a new pod
	// must be ready before an old one is stopped.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Recreate' || !has(self.rollingUpdate)",fieldPath=".rollingUpdate",message="rollingUpdate must not be set when type is Recreate"
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`
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
