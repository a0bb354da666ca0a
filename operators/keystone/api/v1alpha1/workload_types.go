package v1alpha1

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// AutoscalingSpec lets the number of API pods follow their load.
//
// +kubebuilder:validation:XValidation:rule="has(self.targetCPUUtilization) || has(self.targetMemoryUtilization)",message="at least one of targetCPUUtilization or targetMemoryUtilization must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",fieldPath=".minReplicas",message="must not exceed maxReplicas"
type AutoscalingSpec struct {
	// minReplicas is the lowest number of API pods. When it is not set, it is
	// spec.replicas.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the highest number of API pods.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilization is the average CPU use to keep to, in percent of
	// the requested CPU. At least one of the two targets is set.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetCPUUtilization *int32 `json:"targetCPUUtilization,omitempty"`

	// targetMemoryUtilization is the average memory use to keep to, in percent
	// of the requested memory. At least one of the two targets is set.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetMemoryUtilization *int32 `json:"targetMemoryUtilization,omitempty"`
}

// NetworkPolicySpec restricts the traffic of Keystone's pods. What Keystone
// itself needs (DNS, database, cache) is always allowed.
//
// +kubebuilder:validation:XValidation:rule="size(self.ingress) > 0",message="at least one ingress source must be specified"
type NetworkPolicySpec struct {
	// ingress lists who may reach the API on TCP port 5000; at least one
	// source is given.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Ingress []NetworkPolicyIngressSource `json:"ingress"`

	// additionalEgress allows more connections from Keystone's pods, for
	// example to an LDAP server.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	AdditionalEgress []networkingv1.NetworkPolicyEgressRule `json:"additionalEgress,omitempty"`
}

// NetworkPolicyIngressSource selects pods that may reach the API.
type NetworkPolicyIngressSource struct {
	// namespaceSelector holds the labels of the namespaces whose pods may
	// reach the API; {} selects all namespaces. Example:
	// {"kubernetes.io/metadata.name": "openstack"}.
	//
	// +required
	NamespaceSelector map[string]string `json:"namespaceSelector"`

	// podSelector holds the labels of the pods in those namespaces that may
	// reach the API. When it is not set, all of them may.
	//
	// +optional
	PodSelector map[string]string `json:"podSelector,omitempty"`
}

// UWSGISpec tunes the uWSGI application server in the API pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.httpKeepAliveTimeout) || !has(self.httpKeepAlive) || self.httpKeepAlive",fieldPath=".httpKeepAliveTimeout",message="httpKeepAliveTimeout requires httpKeepAlive to be true"
type UWSGISpec struct {
	// processes is the number of worker processes in a pod; each takes about
	// 115 MB of memory. The default is 2.
	//
	// +optional
	// +default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	Processes int32 `json:"processes,omitempty"`

	// threads is the number of threads of a worker process. The default is 1.
	//
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	Threads int32 `json:"threads,omitempty"`

	// httpKeepAlive lets a client send several requests over one connection.
	// The default is true.
	//
	// +optional
	// +default=true
	HTTPKeepAlive *bool `json:"httpKeepAlive,omitempty"`

	// httpKeepAliveTimeout closes a connection that was idle for this many
	// seconds; keep it at most at preStopSleepSeconds. It requires
	// httpKeepAlive. When it is not set, uWSGI's own timeout applies.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	HTTPKeepAliveTimeout *int32 `json:"httpKeepAliveTimeout,omitempty"`

	// harakiri ends a worker whose request takes longer than this many
	// seconds. It is less than terminationGracePeriodSeconds minus
	// preStopSleepSeconds. When it is not set, a request may take any time.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	Harakiri *int32 `json:"harakiri,omitempty"`
}

// LogFormat is the form of a log record.
//
// +kubebuilder:validation:Enum=text;json
type LogFormat string

const (
	// LogFormatText writes a record as a line of text.
	LogFormatText LogFormat = "text"
	// LogFormatJSON writes a record as one JSON object in a line.
	LogFormatJSON LogFormat = "json"
)

// LogLevel is the lowest severity that is logged, as Python names it.
//
// +kubebuilder:validation:Enum=DEBUG;INFO;WARNING;ERROR;CRITICAL
type LogLevel string

// The levels of Python's logging, from the most to the least verbose.
const (
	LogLevelDebug    LogLevel = "DEBUG"
	LogLevelInfo     LogLevel = "INFO"
	LogLevelWarning  LogLevel = "WARNING"
	LogLevelError    LogLevel = "ERROR"
	LogLevelCritical LogLevel = "CRITICAL"
)

// LoggingSpec sets what Keystone logs and in which form. The log always goes
// to standard error.
type LoggingSpec struct {
	// format is the form of a record: "text" is a line for people, "json" one
	// object in a line for log collectors. A JSON record of more than 4096 bytes
	// is written as several, with the fields part and parts, between which the
	// message is divided. The default is "text".
	//
	// +optional
	// +default="text"
	Format LogFormat `json:"format,omitempty"`

	// level is the lowest severity that is logged: DEBUG, INFO, WARNING, ERROR
	// or CRITICAL. The default is "INFO".
	//
	// +optional
	// +default="INFO"
	Level LogLevel `json:"level,omitempty"`

	// debug turns on Keystone's debug mode, which logs more than level DEBUG
	// alone. The default is false.
	//
	// +optional
	// +default=false
	Debug bool `json:"debug,omitempty"`

	// perLoggerLevels sets the level of single loggers. Example:
	// {"sqlalchemy.engine": "WARNING"}.
	//
	// +optional
	PerLoggerLevels map[string]string `json:"perLoggerLevels,omitempty"`
}
