package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ControlPlane is an OpenStack control plane: its database and cache, its services, and the
// credential for the management of OpenStack resources. A namespace holds at most one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=controlplanes,singular=controlplane,scope=Namespaced,categories=openstack
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.spec.openStackRelease`
// +kubebuilder:printcolumn:name="Keystone",type=string,JSONPath=`.status.services[?(@.name=='keystone')].release`
// +kubebuilder:printcolumn:name="Placement",type=string,JSONPath=`.status.services[?(@.name=='placement')].release`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!has(self.spec.services.keystone) || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="name must start with a letter and consist of lower case letters, digits and dashes: a Service is named after it"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.services.keystone) || size(self.metadata.name) <= 25",message="name must be no longer than 25 characters: the Keystone is named after it"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.korc) || !has(self.spec.korc.adminCredential) || !has(self.spec.korc.adminCredential.cloudCredentialsRef) || !has(self.spec.korc.adminCredential.cloudCredentialsRef.secretName) || !(self.spec.korc.adminCredential.cloudCredentialsRef.secretName in [self.metadata.name + '-keystone-db-credentials', self.metadata.name + '-keystone-admin-credentials', self.metadata.name + '-admin-app-credential', self.metadata.name + '-admin-password-cloud'] || (has(self.spec.services.barbican) && self.spec.korc.adminCredential.cloudCredentialsRef.secretName.startsWith(self.metadata.name + '-barbican-')) || (has(self.spec.services.placement) && self.spec.korc.adminCredential.cloudCredentialsRef.secretName.startsWith(self.metadata.name + '-placement-')) || (has(self.spec.services.glance) && self.spec.korc.adminCredential.cloudCredentialsRef.secretName.startsWith(self.metadata.name + '-glance-')) || (has(self.spec.services.horizon) && self.spec.korc.adminCredential.cloudCredentialsRef.secretName.startsWith(self.metadata.name + '-horizon-')))",fieldPath=".spec.korc.adminCredential.cloudCredentialsRef.secretName",message="secretName must not be the name of another Secret of the control plane"
// +kubebuilder:validation:XValidation:rule="self.spec.openStackRelease >= oldSelf.spec.openStackRelease || (has(oldSelf.spec.services.keystone) && has(oldSelf.status) && has(oldSelf.status.updatePhase) && (!has(oldSelf.status.services) || oldSelf.status.services.all(s, !has(s.release) || s.release <= self.spec.openStackRelease || s.release.startsWith(self.spec.openStackRelease))))",fieldPath=".spec.openStackRelease",message="openStackRelease must not go back: database migrations only go forward"
type ControlPlane struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the control plane.
	//
	// +required
	Spec ControlPlaneSpec `json:"spec"`

	// status is the state of the control plane, as the operator last observed it.
	//
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status ControlPlaneStatus `json:"status,omitzero"`
}

// ControlPlaneList is a list of ControlPlanes.
//
// +kubebuilder:object:root=true
type ControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ControlPlane `json:"items"`
}

// ControlPlaneSpec describes a control plane. Everything except the release and the services has a default.
//
// +kubebuilder:validation:XValidation:rule="!has(self.services.barbican) || !has(self.services.barbican.database) || !has(self.infrastructure) || !has(self.infrastructure.database) || self.services.barbican.database.database != self.infrastructure.database.database",fieldPath=".services.barbican.database.database",message="database must not be that of another service: each has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.services.placement) || !has(self.services.placement.database) || !has(self.infrastructure) || !has(self.infrastructure.database) || self.services.placement.database.database != self.infrastructure.database.database",fieldPath=".services.placement.database.database",message="database must not be that of another service: each has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.services.glance) || !has(self.services.glance.database) || !has(self.infrastructure) || !has(self.infrastructure.database) || self.services.glance.database.database != self.infrastructure.database.database",fieldPath=".services.glance.database.database",message="database must not be that of another service: each has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.services.barbican) || !has(self.services.barbican.database) || !has(self.services.placement) || !has(self.services.placement.database) || self.services.barbican.database.database != self.services.placement.database.database",fieldPath=".services.placement.database.database",message="database must not be that of another service: each has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.services.barbican) || !has(self.services.barbican.database) || !has(self.services.glance) || !has(self.services.glance.database) || self.services.barbican.database.database != self.services.glance.database.database",fieldPath=".services.glance.database.database",message="database must not be that of another service: each has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.services.placement) || !has(self.services.placement.database) || !has(self.services.glance) || !has(self.services.glance.database) || self.services.placement.database.database != self.services.glance.database.database",fieldPath=".services.glance.database.database",message="database must not be that of another service: each has its own"
// +kubebuilder:validation:XValidation:rule="!has(self.korc) || !has(self.korc.adminCredential) || !has(self.services.barbican) || !has(self.services.barbican.database) || self.korc.adminCredential.cloudCredentialsRef.secretName != self.services.barbican.database.secretRef.name",fieldPath=".korc.adminCredential.cloudCredentialsRef.secretName",message="secretName must not be the name of another Secret of the control plane"
// +kubebuilder:validation:XValidation:rule="!has(self.korc) || !has(self.korc.adminCredential) || !has(self.services.placement) || !has(self.services.placement.database) || self.korc.adminCredential.cloudCredentialsRef.secretName != self.services.placement.database.secretRef.name",fieldPath=".korc.adminCredential.cloudCredentialsRef.secretName",message="secretName must not be the name of another Secret of the control plane"
// +kubebuilder:validation:XValidation:rule="!has(self.korc) || !has(self.korc.adminCredential) || !has(self.services.glance) || !has(self.services.glance.database) || self.korc.adminCredential.cloudCredentialsRef.secretName != self.services.glance.database.secretRef.name",fieldPath=".korc.adminCredential.cloudCredentialsRef.secretName",message="secretName must not be the name of another Secret of the control plane"
// +kubebuilder:validation:XValidation:rule="!has(self.korc) || !has(self.korc.adminCredential) || !has(self.infrastructure) || !has(self.infrastructure.database) || self.korc.adminCredential.cloudCredentialsRef.secretName != self.infrastructure.database.secretRef.name",fieldPath=".korc.adminCredential.cloudCredentialsRef.secretName",message="secretName must not be the name of another Secret of the control plane"
// +kubebuilder:validation:XValidation:rule="!has(self.backup) || !has(self.infrastructure) || !has(self.infrastructure.database) || !has(self.infrastructure.database.host)",fieldPath=".backup",message="backup requires infrastructure.database.clusterRef: back up a database of your own with its own tools, and Keystone's keys with the secret store"
type ControlPlaneSpec struct {
	// openStackRelease is the OpenStack release of all services. Setting a later
	// release upgrades them. An installed release cannot be downgraded; a release that
	// was never installed can be corrected. Example: "2025.1".
	//
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^\d{4}\.\d$`
	OpenStackRelease string `json:"openStackRelease"`

	// region is the OpenStack region of the control plane. It cannot be
	// changed later. The default is "RegionOne".
	//
	// +optional
	// +default="RegionOne"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="region is immutable"
	Region string `json:"region,omitempty"`

	// deletionPolicy determines what happens to the data when the ControlPlane is deleted.
	// With Retain, the databases of the services, their users, Keystone's keys and their
	// copies in the secret store stay, as does the volume of the MariaDB, and a new
	// ControlPlane of the same name adopts them. With Delete, the operator removes them;
	// this is also the behaviour when the field is not set. A database that you provide
	// always stays.
	//
	// +optional
	DeletionPolicy commonv1.DeletionPolicy `json:"deletionPolicy,omitempty"`

	// hibernation stops everything that runs for the control plane: the services first, then
	// the database and the cache that the operator has created. Data, keys and passwords stay,
	// and so does a database with several servers, which mariadb-operator cannot stop. An update
	// that has begun ends first. While the control plane hibernates, other changes of spec have
	// no effect. When it is not set or false, the control plane runs.
	//
	// +optional
	Hibernation *bool `json:"hibernation,omitempty"`

	// infrastructure is the database and the cache of the services. When it is
	// not set, the operator creates both.
	//
	// +optional
	// +default={}
	Infrastructure InfrastructureSpec `json:"infrastructure,omitzero"`

	// services are the OpenStack services of the control plane.
	//
	// +required
	Services ServicesSpec `json:"services"`

	// global has rules of the API policy and options of the configuration for every service. A rule of the same name in a service's
	// policyOverrides takes precedence, and so does an option of a service's own resource.
	//
	// +optional
	Global *GlobalSpec `json:"global,omitempty"`

	// serviceUsers determines how the services log in to Keystone.
	//
	// +optional
	// +default={}
	ServiceUsers ServiceUsersSpec `json:"serviceUsers,omitzero"`

	// korc configures the management of OpenStack resources through K-ORC, the OpenStack
	// Resource Controller.
	//
	// +optional
	// +default={}
	KORC KORCSpec `json:"korc,omitzero"`

	// backup schedules backups of the databases and of Keystone's keys. It requires
	// infrastructure.database.clusterRef. When it is not set, the operator takes no backups.
	//
	// +optional
	Backup *BackupSpec `json:"backup,omitempty"`
}

// GlobalSpec holds settings of all services of a control plane.
type GlobalSpec struct {
	commonv1.PolicySpec `json:",inline"`

	// extraConfig adds options to the configuration files of all services, by section and
	// option, and takes precedence over what the operators set. The options of a service's
	// own resource take precedence: those of its extraConfig, of its extraConfigSecretRef
	// and of its plugins. status.services lists the options that have no effect on a
	// service. A service ignores options that it does not know. Each value is a string;
	// options that a service reserves are refused. Example: {"DEFAULT": {"debug": "true"}}.
	//
	// +optional
	ExtraConfig map[string]map[string]string `json:"extraConfig,omitempty"`
}

// InfrastructureSpec is the database and the cache of a control plane.
type InfrastructureSpec struct {
	// database is the MariaDB of the services, including the database of Keystone. The
	// choice between clusterRef and host and the names of the cluster and the database
	// cannot be changed later. The default is a new MariaDB with the name "openstack-db".
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef)",message="database mode (managed clusterRef vs brownfield host) is immutable"
	// +kubebuilder:validation:XValidation:rule="!has(self.clusterRef) || !has(oldSelf.clusterRef) || self.clusterRef.name == oldSelf.clusterRef.name",fieldPath=".clusterRef.name",message="database clusterRef.name is immutable"
	// +kubebuilder:validation:XValidation:rule="self.database == oldSelf.database",fieldPath=".database",message="database name is immutable"
	// +kubebuilder:validation:XValidation:rule="(has(self.replicas) ? self.replicas : 3) == (has(oldSelf.replicas) ? oldSelf.replicas : 3) || (has(oldSelf.replicas) && oldSelf.replicas % 2 == 0)",fieldPath=".replicas",message="database replicas is immutable"
	// +kubebuilder:validation:XValidation:rule="!has(self.clusterRef) || !has(self.replicas) || self.replicas % 2 == 1",fieldPath=".replicas",message="replicas must be an odd number, for example 3: mariadb-operator refuses an even one"
	// +kubebuilder:validation:XValidation:rule="quantity(has(self.storageSize) && size(self.storageSize) > 0 ? self.storageSize : '100Gi').compareTo(quantity(has(oldSelf.storageSize) && size(oldSelf.storageSize) > 0 ? oldSelf.storageSize : '100Gi')) == 0",fieldPath=".storageSize",message="database storageSize is immutable"
	// +kubebuilder:validation:XValidation:rule="(has(self.storageClassName) ? self.storageClassName : '') == (has(oldSelf.storageClassName) ? oldSelf.storageClassName : '')",fieldPath=".storageClassName",message="database storageClassName is immutable"
	// +default={"clusterRef":{"name":"openstack-db"},"database":"keystone","secretRef":{"name":"keystone-db"}}
	Database InfrastructureDatabaseSpec `json:"database,omitzero"`

	// cache is the memcached of the services. The choice between clusterRef and
	// servers and the name of the cluster cannot be changed later. The default
	// is a new Memcached with the name "openstack-memcached".
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef)",message="cache mode (managed clusterRef vs brownfield servers) is immutable"
	// +kubebuilder:validation:XValidation:rule="!has(self.clusterRef) || !has(oldSelf.clusterRef) || self.clusterRef.name == oldSelf.clusterRef.name",fieldPath=".clusterRef.name",message="cache clusterRef.name is immutable"
	// +default={"clusterRef":{"name":"openstack-memcached"}}
	Cache InfrastructureCacheSpec `json:"cache,omitzero"`
}

// InfrastructureDatabaseSpec describes a database and, if the operator creates the
// server, its size. In managed mode the operator provides the credentials itself, and
// secretRef is not used.
type InfrastructureDatabaseSpec struct {
	commonv1.DatabaseSpec `json:",inline"`

	// replicas is the number of database servers that the operator creates
	// for clusterRef. It must be odd; several servers form a Galera cluster.
	// It cannot be changed later. When it is not set, it is 3.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15
	Replicas *int32 `json:"replicas,omitempty"`

	// storageSize is the size of the volume of each of those servers. It
	// cannot be changed later. When it is not set, it is "100Gi".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || (isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="storageSize must be a positive quantity such as 100Gi"
	StorageSize string `json:"storageSize,omitempty"`

	// storageClassName is the StorageClass of those volumes. It cannot be changed later.
	// When it is not set, the cluster's default applies. Example: "ceph-rbd".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	StorageClassName string `json:"storageClassName,omitempty"`

	// image is the image of those servers, with its tag. A change replaces them
	// one by one. When it is not set, mariadb-operator chooses one. Example:
	// "registry.example.com/mariadb:11.8".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[a-z0-9][A-Za-z0-9._:/@-]*$`
	Image string `json:"image,omitempty"`

	// imagePullSecrets name Secrets of type kubernetes.io/dockerconfigjson that those
	// servers use to pull their image. The operator sets them only when it creates the
	// MariaDB, because mariadb-operator accepts no later change. Example: [{"name":
	// "registry"}].
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(s, size(s.name) > 0)",message="name the Secret with which the image is pulled"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// InfrastructureCacheSpec describes a cache and, if the operator creates the servers,
// their number and image.
type InfrastructureCacheSpec struct {
	commonv1.CacheSpec `json:",inline"`

	// image is the image of the memcached servers that the operator creates for
	// clusterRef, with its tag. When it is not set, the memcached operator chooses
	// one. Example: "registry.example.com/memcached:1.6".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[a-z0-9][A-Za-z0-9._:/@-]*$`
	Image string `json:"image,omitempty"`
}

// UpdatePhase is the step of an update of the whole control plane.
//
// +kubebuilder:validation:Enum=Idle;Updating;UpdatingServices;Verifying;RollingBack
type UpdatePhase string

const (
	// UpdatePhaseIdle means that no update is in progress.
	UpdatePhaseIdle UpdatePhase = "Idle"
	// UpdatePhaseUpdating means that an update has started.
	UpdatePhaseUpdating UpdatePhase = "Updating"
	// UpdatePhaseUpdatingServices means that services are being updated.
	UpdatePhaseUpdatingServices UpdatePhase = "UpdatingServices"
	// UpdatePhaseVerifying means that the updated services are being checked.
	UpdatePhaseVerifying UpdatePhase = "Verifying"
	// UpdatePhaseRollingBack means that an update is being rolled back.
	UpdatePhaseRollingBack UpdatePhase = "RollingBack"
)

// ControlPlaneStatus is the state of a control plane, as the operator last observed it.
type ControlPlaneStatus struct {
	// conditions report what works and what does not. Ready summarises the others; the
	// message of a condition that is False says what to do.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator last
	// reconciled; -1 before the first reconciliation.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// updatePhase is the phase of an update to another release: Idle when no update is
	// in progress, then Updating, UpdatingServices and Verifying, or RollingBack while
	// it is being rolled back.
	//
	// +optional
	UpdatePhase UpdatePhase `json:"updatePhase,omitempty"`

	// services reports the readiness and the release of each service.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Services []ServiceStatus `json:"services,omitempty"`

	// adminApplicationCredential is the application credential for the management of
	// OpenStack resources.
	//
	// +optional
	AdminApplicationCredential *AdminApplicationCredentialStatus `json:"adminApplicationCredential,omitempty"`

	// bootstrapResources reports which bootstrap resources exist in OpenStack, including
	// the project and the role that service users need.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	BootstrapResources []BootstrapResourceStatus `json:"bootstrapResources,omitempty"`

	// catalogEntries are the entries of the service catalog that the operator created. The
	// operator removes them with their service. Entries that existed before are not listed,
	// and stay.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=objectName
	CatalogEntries []CatalogEntryStatus `json:"catalogEntries,omitempty"`

	// backup is the state of the backups.
	//
	// +optional
	Backup *BackupStatus `json:"backup,omitempty"`

	// restore is the last completed restore of a backup.
	//
	// +optional
	Restore *RestoreStatus `json:"restore,omitempty"`
}

// ServiceStatus is the state of one service of a control plane.
type ServiceStatus struct {
	// name is the service's name. Example: "keystone".
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// ready reports whether the service runs as specified.
	//
	// +required
	Ready bool `json:"ready"`

	// release is the OpenStack release of the service. Example: "2025.1".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Release string `json:"release,omitempty"`

	// overriddenOptions lists the options of spec.global.extraConfig that have no effect on
	// the service, with what sets them instead.
	//
	// +optional
	// +listType=map
	// +listMapKey=section
	// +listMapKey=option
	OverriddenOptions []commonv1.OverriddenOption `json:"overriddenOptions,omitempty"`
}

// AdminApplicationCredentialStatus is the application credential in use.
type AdminApplicationCredentialStatus struct {
	// id is the credential's ID in Keystone.
	//
	// +optional
	ID string `json:"id,omitempty"`

	// restricted reports whether the credential must not create further application
	// credentials.
	//
	// +optional
	Restricted bool `json:"restricted"`

	// lastRotation is when this credential came into use.
	//
	// +optional
	LastRotation *metav1.Time `json:"lastRotation,omitempty"`
}
