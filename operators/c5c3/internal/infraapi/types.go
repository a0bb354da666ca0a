// Package infraapi holds the parts of the MariaDB and Memcached kinds that a
// control plane sets and reads. mariadb-operator's own types cannot be applied
// as they are: they write out empty references, which would take those fields
// from mariadb-operator. The memcached operator has no Go module.
//
// +kubebuilder:object:generate=true
package infraapi

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const mariaDBGroup = "k8s.mariadb.com"

// The kinds that a control plane reads or writes.
var (
	MariaDBKind   = schema.GroupVersionKind{Group: mariaDBGroup, Version: "v1alpha1", Kind: "MariaDB"}
	DatabaseKind  = schema.GroupVersionKind{Group: mariaDBGroup, Version: "v1alpha1", Kind: "Database"}
	BackupKind    = schema.GroupVersionKind{Group: mariaDBGroup, Version: "v1alpha1", Kind: "Backup"}
	RestoreKind   = schema.GroupVersionKind{Group: mariaDBGroup, Version: "v1alpha1", Kind: "Restore"}
	MemcachedKind = schema.GroupVersionKind{Group: "memcached.c5c3.io", Version: "v1beta1", Kind: "Memcached"}
)

// AddToScheme registers the kinds with a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(MariaDBKind.GroupVersion(),
		&MariaDB{}, &MariaDBList{}, &Backup{}, &BackupList{}, &Restore{}, &RestoreList{})
	metav1.AddToGroupVersion(scheme, MariaDBKind.GroupVersion())
	scheme.AddKnownTypes(MemcachedKind.GroupVersion(), &Memcached{}, &MemcachedList{})
	metav1.AddToGroupVersion(scheme, MemcachedKind.GroupVersion())
	return nil
}

// MariaDB is a database server or a cluster of them.
//
// +kubebuilder:object:root=true
type MariaDB struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MariaDBSpec `json:"spec,omitzero"`
	Status Status      `json:"status,omitzero"`
}

// MariaDBList is a list of MariaDBs.
//
// +kubebuilder:object:root=true
type MariaDBList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []MariaDB `json:"items"`
}

// MariaDBSpec is the size of a MariaDB, and where and how its servers run.
type MariaDBSpec struct {
	Image            string                        `json:"image,omitempty"`
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	Affinity       *Affinity  `json:"affinity,omitempty"`
	Replicas       *int32     `json:"replicas,omitempty"`
	Galera         *Galera    `json:"galera,omitempty"`
	Storage        *Storage   `json:"storage,omitempty"`
	Resources      *Resources `json:"resources,omitempty"`
	StartupProbe   *Probe     `json:"startupProbe,omitempty"`
	ReadinessProbe *Probe     `json:"readinessProbe,omitempty"`
	LivenessProbe  *Probe     `json:"livenessProbe,omitempty"`

	// RootPasswordSecretKeyRef is filled in by mariadb-operator.
	RootPasswordSecretKeyRef *SecretKey `json:"rootPasswordSecretKeyRef,omitempty"`
}

// Affinity says next to which pods the servers run.
type Affinity struct {
	PodAntiAffinity *corev1.PodAntiAffinity `json:"podAntiAffinity,omitempty"`
}

// Resources are the resources of each server.
type Resources struct {
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// Galera turns the servers into a cluster.
type Galera struct {
	Enabled bool         `json:"enabled"`
	Agent   *GaleraAgent `json:"agent,omitempty"`
	// ProviderOptions are the options of the Galera library by name.
	ProviderOptions map[string]string `json:"providerOptions,omitempty"`
}

// GaleraAgent is the agent of mariadb-operator beside each server of a cluster.
type GaleraAgent struct {
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`
}

// BasicAuth makes mariadb-operator log in to the agents with a password.
type BasicAuth struct {
	Enabled bool `json:"enabled"`
}

// Probe is a probe. Without a TCPSocket, zero selects mariadb-operator's default.
type Probe struct {
	TCPSocket           *TCPSocket `json:"tcpSocket,omitempty"`
	InitialDelaySeconds int32      `json:"initialDelaySeconds,omitempty"`
	PeriodSeconds       int32      `json:"periodSeconds,omitempty"`
	FailureThreshold    int32      `json:"failureThreshold,omitempty"`
}

// TCPSocket succeeds once a port accepts connections.
type TCPSocket struct {
	Port intstr.IntOrString `json:"port"`
}

// Storage is the volume of each server.
type Storage struct {
	Size             *resource.Quantity `json:"size,omitempty"`
	StorageClassName string             `json:"storageClassName,omitempty"`
	Ephemeral        bool               `json:"ephemeral,omitempty"`
}

// Memcached is a set of memcached servers.
//
// +kubebuilder:object:root=true
type Memcached struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   MemcachedSpec `json:"spec,omitzero"`
	Status Status        `json:"status,omitzero"`
}

// MemcachedList is a list of Memcacheds.
//
// +kubebuilder:object:root=true
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Memcached `json:"items"`
}

// MemcachedSpec is the size of a Memcached, and what its servers run.
type MemcachedSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Image    string `json:"image,omitempty"`
}

// Status is the status that both kinds have in common.
type Status struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Ready reports whether the servers can be used.
func (s Status) Ready() bool { return meta.IsStatusConditionTrue(s.Conditions, "Ready") }

// Message returns the message of the condition Ready, "" if there is none.
func (s Status) Message() string {
	if ready := meta.FindStatusCondition(s.Conditions, "Ready"); ready != nil {
		return ready.Message
	}
	return ""
}
