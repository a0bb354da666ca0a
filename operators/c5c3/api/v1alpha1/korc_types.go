package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// KORCSpec configures the management of OpenStack resources through K-ORC, the OpenStack
// Resource Controller.
type KORCSpec struct {
	// adminCredential is the credential that K-ORC uses.
	//
	// +optional
	// +default={}
	AdminCredential AdminCredentialSpec `json:"adminCredential,omitzero"`
}

// AdminCredentialSpec describes the administrator's application credential and its source.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cloudCredentialsRef) || !has(self.passwordSecretRef) || self.cloudCredentialsRef.secretName != self.passwordSecretRef.name",fieldPath=".cloudCredentialsRef.secretName",message="secretName must not be the name of another Secret of the control plane"
type AdminCredentialSpec struct {
	// cloudCredentialsRef is the Secret with the clouds.yaml that K-ORC reads.
	//
	// +optional
	// +default={}
	CloudCredentialsRef CloudCredentialsRef `json:"cloudCredentialsRef,omitzero"`

	// passwordSecretRef names the Secret with the administrator's password,
	// under key (default "password"). It is used when database.host is set;
	// otherwise the operator provides the password itself.
	//
	// +optional
	// +default={"name":"keystone-admin","key":"password"}
	PasswordSecretRef commonv1.SecretRefSpec `json:"passwordSecretRef,omitzero"`

	// applicationCredential determines what the credential may do and when it is replaced.
	//
	// +optional
	// +default={}
	ApplicationCredential ApplicationCredentialSpec `json:"applicationCredential,omitzero"`

	// bootstrapResources are OpenStack resources that the operator creates with the control
	// plane if they do not exist.
	//
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	BootstrapResources []BootstrapResourceSpec `json:"bootstrapResources,omitempty"`
}

// CloudCredentialsRef names a cloud in a Secret with a clouds.yaml.
type CloudCredentialsRef struct {
	// cloudName is the cloud's name in the clouds.yaml. The default is
	// "admin".
	//
	// +optional
	// +default="admin"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	CloudName string `json:"cloudName,omitempty"`

	// secretName is the name of the Secret, which the operator creates. It
	// cannot be changed later. The default is "k-orc-clouds-yaml".
	//
	// +optional
	// +default="k-orc-clouds-yaml"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="secretName is immutable"
	SecretName string `json:"secretName,omitempty"`
}

// ApplicationCredentialSpec determines what an application credential may do and when it is replaced.
type ApplicationCredentialSpec struct {
	// restricted prevents the credential from creating further application credentials. The default is true.
	//
	// +optional
	// +default=true
	Restricted *bool `json:"restricted,omitempty"`

	// accessRules limit the credential to the requests that they allow. When the list is
	// empty, the credential has all rights of the administrator.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	AccessRules []AccessRule `json:"accessRules,omitempty"`

	// rotation determines when the credential is replaced.
	//
	// +optional
	// +default={}
	Rotation RotationSpec `json:"rotation,omitzero"`
}

// AccessRule allows certain requests with an application credential.
type AccessRule struct {
	// path is the path of the allowed requests. Example: "/v2.1/servers".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path,omitempty"`

	// method is the HTTP method of the allowed requests. Example: "GET".
	//
	// +optional
	// +kubebuilder:validation:Enum=CONNECT;DELETE;GET;HEAD;OPTIONS;PATCH;POST;PUT;TRACE
	Method string `json:"method,omitempty"`

	// service names the K-ORC Service that receives the requests.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Service string `json:"service"`
}

// RotationMode determines what makes the operator replace the administrator's application credential.
//
// +kubebuilder:validation:Enum=PasswordDriven;Scheduled;Manual
type RotationMode string

const (
	// RotationPasswordDriven replaces it when the administrator's password
	// changes.
	RotationPasswordDriven RotationMode = "PasswordDriven"
	// RotationScheduled replaces it at the times a CredentialRotation sets.
	RotationScheduled RotationMode = "Scheduled"
	// RotationManual replaces it only when a CredentialRotation asks for it.
	RotationManual RotationMode = "Manual"
)

// RotationSpec determines when an application credential is replaced.
type RotationSpec struct {
	// mode determines what triggers the replacement of the credential: a changed password,
	// a schedule, or a CredentialRotation. The default is "PasswordDriven".
	//
	// +optional
	// +default="PasswordDriven"
	Mode RotationMode `json:"mode,omitempty"`
}

// The K-ORC kinds of bootstrap resources.
const (
	BootstrapKindProject = "Project"
	BootstrapKindRole    = "Role"
)

// BootstrapResourceSpec names an OpenStack resource.
type BootstrapResourceSpec struct {
	// kind is the K-ORC kind of the resource.
	//
	// +required
	// +kubebuilder:validation:Enum=Project;Role
	Kind string `json:"kind"`

	// name is the resource's name in OpenStack. Example: "admin".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`
}
