package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// BackupSpec describes the scheduled backups of a control plane. Each backup is a dump of
// the databases of its services. The dump includes Keystone's keys, encrypted.
type BackupSpec struct {
	// schedule is when backups are taken, as a cron expression in UTC. Example: "0 1 * * *".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule string `json:"schedule"`

	// suspend stops the schedule. Backups on request are still taken.
	//
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// storage is where the backups are stored.
	//
	// +required
	Storage BackupStorageSpec `json:"storage"`

	// retention is how long a backup is kept. The next backup deletes older ones. When it is
	// not set, it is "720h", which is 30 days.
	//
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1h')",message="retention must be at least 1h, for example 720h"
	Retention *metav1.Duration `json:"retention,omitempty"`

	// encryptionKeySecretRef names the Secret with the age key that encrypts Keystone's keys:
	// an age recipient ("age1…"), or an age identity ("AGE-SECRET-KEY-1…") as age-keygen
	// generates it. A restore requires the identity. The default of key is "key".
	//
	// +required
	EncryptionKeySecretRef commonv1.SecretRefSpec `json:"encryptionKeySecretRef"`
}

// BackupStorageSpec is the storage of backups.
//
// +kubebuilder:validation:XValidation:rule="has(self.s3) != has(self.persistentVolumeClaim)",message="exactly one of s3 or persistentVolumeClaim must be set"
type BackupStorageSpec struct {
	// s3 stores the backups in a bucket of an S3-compatible object store.
	//
	// +optional
	S3 *BackupS3Spec `json:"s3,omitempty"`

	// persistentVolumeClaim stores the backups in a volume. It should not be on the storage of
	// the database.
	//
	// +optional
	PersistentVolumeClaim *BackupClaimSpec `json:"persistentVolumeClaim,omitempty"`
}

// BackupClaimSpec names an existing claim.
type BackupClaimSpec struct {
	// claimName is the name of a PersistentVolumeClaim in the namespace of the control plane,
	// which you create. Example: "backups".
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ClaimName string `json:"claimName"`
}

// BackupS3Spec is a bucket of an S3-compatible object store. The backups of a control plane
// are in the bucket below "<prefix>/<namespace>/<name>/", after the cluster name if there is
// one.
type BackupS3Spec struct {
	// bucket is the name of the bucket, which must exist. Example: "openstack-backups".
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`
	Bucket string `json:"bucket"`

	// endpoint is the host of the object store and, if needed, its port. Example:
	// "s3.example.com:9000".
	//
	// +required
	// +kubebuilder:validation:MaxLength=259
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?$`
	Endpoint string `json:"endpoint"`

	// region is the region of the bucket. When it is not set, it is "us-east-1".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-a-zA-Z0-9]*$`
	Region string `json:"region,omitempty"`

	// prefix is the folder in the bucket. Example: "forge/eu".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^([-_a-zA-Z0-9]+(/[-_a-zA-Z0-9]+)*)?$`
	Prefix string `json:"prefix,omitempty"`

	// credentialsSecretName is the name of the Secret with the access key, under
	// "access-key-id" and "secret-access-key". Example: "backup-s3".
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	CredentialsSecretName string `json:"credentialsSecretName"`

	// caBundleSecretRef names the Secret with the CA certificates of the object store. When it
	// is not set, the public ones apply. The default of key is "ca.crt".
	//
	// +optional
	CABundleSecretRef *commonv1.SecretRefSpec `json:"caBundleSecretRef,omitempty"`

	// insecure selects plain HTTP. The databases in a backup are not encrypted.
	//
	// +optional
	Insecure bool `json:"insecure,omitempty"`
}

// BackupStatus is the state of the backups of a control plane.
type BackupStatus struct {
	// lastSuccessTime is when the last good backup was completed. Its keys fit its databases.
	//
	// +optional
	LastSuccessTime *metav1.Time `json:"lastSuccessTime,omitempty"`

	// scheduledSince is when the current schedule came into effect.
	//
	// +optional
	ScheduledSince *metav1.Time `json:"scheduledSince,omitempty"`
}

// RestoreStatus is a completed restore.
type RestoreStatus struct {
	// request is the value of the annotation that requested it: the time of the backup.
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	Request string `json:"request"`

	// completionTime is when the databases and the keys were replaced.
	//
	// +required
	CompletionTime metav1.Time `json:"completionTime"`
}
