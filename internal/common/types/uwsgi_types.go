package types

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

	// httpKeepAliveTimeout closes a connection that has been idle for this many
	// seconds. It should not exceed preStopSleepSeconds. It requires httpKeepAlive.
	// When it is not set, uWSGI's own timeout applies.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	HTTPKeepAliveTimeout *int32 `json:"httpKeepAliveTimeout,omitempty"`

	// harakiri kills a worker whose request takes longer than this many seconds. It must be
	// less than terminationGracePeriodSeconds minus preStopSleepSeconds. When it is not
	// set, requests have no time limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	Harakiri *int32 `json:"harakiri,omitempty"`
}
