package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// GlanceBackend is a place in which a Glance stores images.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=glancebackends,singular=glancebackend,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Glance",type=string,JSONPath=`.spec.glanceRef.name`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$') && !(self.metadata.name in ['barbican', 'cache', 'cors', 'database', 'healthcheck', 'paste', 'profiler', 'task', 'wsgi'])",optionalOldSelf=true,message="name must be that of a store: a letter and up to 39 lower case letters, digits and dashes, and no section of Glance's own"
type GlanceBackend struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name becomes that of the store in Glance.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the GlanceBackend.
	//
	// +required
	Spec GlanceBackendSpec `json:"spec"`

	// status is the state of the GlanceBackend, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status GlanceBackendStatus `json:"status,omitzero"`
}

// GlanceBackendList is a list of GlanceBackends.
//
// +kubebuilder:object:root=true
type GlanceBackendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []GlanceBackend `json:"items"`
}

// Types of a GlanceBackend: a bucket, a volume, and those that Glance's own options describe.
const (
	BackendS3    = "s3"
	BackendFile  = "file"
	BackendSwift = "swift"
	BackendRBD   = "rbd"
)

// GlanceBackendSpec describes a GlanceBackend.
//
// +kubebuilder:validation:XValidation:rule="self.glanceRef == oldSelf.glanceRef",fieldPath=".glanceRef",message="the Glance cannot be changed: images would lose their place"
type GlanceBackendSpec struct {
	// glanceRef is the Glance that stores images there. It cannot be changed.
	//
	// +required
	GlanceRef commonv1.ServiceReference `json:"glanceRef"`

	BackendSpec `json:",inline"`
}

// BackendSpec describes a place for images.
//
// +kubebuilder:validation:XValidation:rule="has(self.s3) == (self.type == 's3') && has(self.file) == (self.type == 'file') && has(self.options) == (self.type in ['swift', 'rbd']) && (!has(self.optionsSecretRef) || has(self.options))",fieldPath=".type",message="the type needs its own field and no other: s3, file, or options for swift and rbd"
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type && (has(self.s3) ? self.s3.bucket : '-') == (has(oldSelf.s3) ? oldSelf.s3.bucket : '-') && (has(self.file) ? self.file.claim : '-') == (has(oldSelf.file) ? oldSelf.file.claim : '-')",fieldPath=".type",message="the type, the bucket and the claim cannot be changed: images would lose their place"
type BackendSpec struct {
	// type is the type of the backend: s3, file, swift or rbd. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:Enum=s3;file;swift;rbd
	Type string `json:"type"`

	// s3 describes the bucket of a backend of the type s3.
	//
	// +optional
	S3 *S3Spec `json:"s3,omitempty"`

	// file describes the volume of a backend of the type file.
	//
	// +optional
	File *FileSpec `json:"file,omitempty"`

	// options are those of Glance's driver for a backend of the type swift or rbd. Example:
	// {"rbd_store_pool": "images"}.
	//
	// +optional
	Options map[string]string `json:"options,omitempty"`

	// optionsSecretRef names a Secret whose entries are further options of the driver.
	//
	// +optional
	OptionsSecretRef *commonv1.CredentialsReference `json:"optionsSecretRef,omitempty"`
}

// S3Spec describes a bucket of an object store with the API of Amazon S3.
type S3Spec struct {
	// host is the host of the object store, with its port if that is not the default, and without
	// a scheme. Example: "s3.example.com:9000".
	//
	// +required
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:Pattern=`^[a-z0-9][-.:a-z0-9]*$`
	Host string `json:"host"`

	// tls encrypts the connections to the object store, which it does unless it is false.
	//
	// +optional
	TLS *bool `json:"tls,omitempty"`

	// bucket is the name of the bucket, which must exist. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`
	Bucket string `json:"bucket"`

	// region is the region that signs requests. By default it follows from the host.
	//
	// +optional
	Region string `json:"region,omitempty"`

	// credentialsSecretRef names the Secret with the credentials: "accessKey" and "secretKey".
	//
	// +required
	CredentialsSecretRef commonv1.CredentialsReference `json:"credentialsSecretRef"`
}

// FileSpec describes a volume.
type FileSpec struct {
	// claim is the name of the PersistentVolumeClaim, which all pods must be able to mount. It
	// cannot be changed.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`
}

// GlanceBackendStatus is the state of a GlanceBackend, as the operator last observed it.
type GlanceBackendStatus struct {
	commonv1.AttachmentStatus `json:",inline"`
}
