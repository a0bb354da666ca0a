package types

import corev1 "k8s.io/api/core/v1"

// PodSettings say where the pods of a service run and what they get in addition to what the
// service needs. A kind embeds them.
type PodSettings struct {
	// nodeSelector are labels that a node must have to run pods of the service, those of
	// its Jobs and CronJobs included. Example: {"node-role.kubernetes.io/infra": ""}.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations let pods of the service, those of its Jobs and CronJobs included, run on
	// nodes with taints. Example: [{"key": "infra", "operator": "Exists"}].
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity says on which nodes and beside which pods the API pods run. It replaces the
	// default, by which they prefer different nodes. The pods of Jobs and CronJobs get its
	// nodeAffinity.
	//
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// runtimeClassName is the RuntimeClass of all pods. When it is not set, the cluster's
	// default applies. Example: "gvisor".
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`

	// hostAliases are entries in the hosts file of all pods.
	// Example: [{"ip": "192.0.2.10", "hostnames": ["ldap.example.com"]}].
	//
	// +optional
	// +listType=map
	// +listMapKey=ip
	// +kubebuilder:validation:MaxItems=64
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// podLabels are added to all pods. Labels of app.kubernetes.io and c5c3.io are the
	// operator's, and those by which Kubernetes tells pods apart are its own.
	// Example: {"team": "identity"}.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// podAnnotations are added to all pods. Annotations of c5c3.io are the operator's.
	// The pods of Jobs keep those with which a service mesh leaves them alone.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// serviceAnnotations are set on the Service of the API.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`

	// serviceAccountAnnotations are set on the ServiceAccounts that the operator creates:
	// those of pods that use the API server, such as Keystone's rotations. The other pods
	// use the ServiceAccount "default" of the namespace, without a token.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	ServiceAccountAnnotations map[string]string `json:"serviceAccountAnnotations,omitempty"`

	// extraEnv are environment variables of the service's own processes, in the API pods,
	// Jobs and CronJobs. Those that the operator sets are refused, such as all that begin
	// with OS_ or UWSGI_: options are set by extraConfig. A changed Secret or ConfigMap
	// reaches a pod when it starts.
	// Example: [{"name": "REQUESTS_CA_BUNDLE", "value": "/extra/ca.crt"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	ExtraEnv []corev1.EnvVar `json:"extraEnv,omitempty"`

	// extraVolumes are mounted into the containers with the service's own processes, in the
	// API pods, Jobs and CronJobs.
	// Example: [{"name": "ca", "mountPath": "/extra", "configMap": {"name": "corporate-ca"}}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	ExtraVolumes []ExtraVolume `json:"extraVolumes,omitempty"`
}

// ExtraVolume is a volume and where it is mounted. It is a ConfigMap, a Secret or a claim.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.persistentVolumeClaim)].exists_one(set, set)",message="exactly one of configMap, secret or persistentVolumeClaim must be set"
type ExtraVolume struct {
	// name tells the volume from others. Example: "ca".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// mountPath is the directory of the volume, an absolute path. It must not be one that
	// the operator uses, or lie above or below it. Example: "/extra".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(/[^/:]+)+$`
	MountPath string `json:"mountPath"`

	// readOnly mounts a claim read-only. ConfigMaps and Secrets always are.
	//
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`

	// configMap is the ConfigMap with the files of the volume.
	//
	// +optional
	ConfigMap *VolumeFiles `json:"configMap,omitempty"`

	// secret is the Secret with the files of the volume.
	//
	// +optional
	Secret *VolumeFiles `json:"secret,omitempty"`

	// persistentVolumeClaim is the claim whose volume is mounted. The nodes of all pods of
	// the service must be able to mount it at the same time.
	//
	// +optional
	PersistentVolumeClaim *corev1.LocalObjectReference `json:"persistentVolumeClaim,omitempty"`
}

// VolumeFiles are the entries of a ConfigMap or Secret as files.
type VolumeFiles struct {
	// name is the name of the ConfigMap or Secret.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// items are the entries to mount, and the paths of their files below mountPath. When it
	// is not set, every entry is a file of its name. Example: [{"key": "ca.crt", "path": "ca.crt"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=64
	Items []corev1.KeyToPath `json:"items,omitempty"`
}
