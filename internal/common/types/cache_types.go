package types

import corev1 "k8s.io/api/core/v1"

const (
	// DefaultCacheBackend is the dogpile backend of a cache whose spec names
	// none.
	DefaultCacheBackend = "dogpile.cache.pymemcache"

	// DefaultCacheReplicas is the number of memcached servers of a cache whose
	// spec names none.
	DefaultCacheReplicas int32 = 3

	// DefaultCachePort is the TCP port memcached listens on.
	DefaultCachePort int32 = 11211
)

// CacheSpec describes the memcached servers that a service uses: either a Memcached
// resource in the same namespace (managed) or servers that are run outside of forge
// (brownfield).
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) != (has(self.servers) && size(self.servers) > 0)",message="exactly one of clusterRef or servers must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.clusterRef) || (has(self.clusterRef.name) && size(self.clusterRef.name) > 0)",message="clusterRef.name must not be empty"
type CacheSpec struct {
	// clusterRef names a Memcached resource in the same namespace. Exactly one of clusterRef and servers must be set.
	//
	// +optional
	ClusterRef *corev1.LocalObjectReference `json:"clusterRef,omitempty"`

	// backend is the dogpile.cache backend of oslo.cache. The default is
	// "dogpile.cache.pymemcache".
	//
	// +optional
	// +default="dogpile.cache.pymemcache"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.:-]+$`
	Backend string `json:"backend,omitempty"`

	// servers lists memcached servers that are run outside of forge, each as
	// host or host:port; the port defaults to 11211. Example:
	// ["memcached.openstack.svc.cluster.local:11211"]. Each must be a single
	// server. Behind a Service that balances several, what one process removes
	// from the cache, such as a revoked token, stays valid for the others.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=300
	// +kubebuilder:validation:items:Pattern=`^[^\s,]+$`
	Servers []string `json:"servers,omitempty"`

	// replicas is the number of memcached servers a ControlPlane creates for
	// clusterRef. Other kinds accept and ignore it. The default is 3.
	//
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Replicas int32 `json:"replicas,omitempty"`
}

// IsManaged reports whether a Memcached resource in the cluster serves the
// cache, as opposed to servers run by something else.
func (c CacheSpec) IsManaged() bool {
	return c.ClusterRef != nil
}
