package infraapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Backup takes dumps of the databases of a MariaDB on a schedule, with a CronJob of its name.
//
// +kubebuilder:object:root=true
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec BackupSpec `json:"spec,omitzero"`
}

// BackupList is a list of Backups.
//
// +kubebuilder:object:root=true
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Backup `json:"items"`
}

// BackupSpec is what is dumped, when, and where the dumps are stored. MaxRetention and
// Storage cannot be changed.
type BackupSpec struct {
	MariaDBRef      NameRef         `json:"mariaDbRef"`
	Databases       []string        `json:"databases,omitempty"`
	Schedule        *Schedule       `json:"schedule,omitempty"`
	MaxRetention    metav1.Duration `json:"maxRetention,omitzero"`
	Storage         DumpStorage     `json:"storage"`
	Compression     string          `json:"compression,omitempty"`
	InheritMetadata *Metadata       `json:"inheritMetadata,omitempty"`
}

// Restore loads a dump into the databases of a MariaDB, with a Job of its name: the dump
// whose time is closest to TargetRecoveryTime.
//
// +kubebuilder:object:root=true
type Restore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   RestoreSpec `json:"spec,omitzero"`
	Status Status      `json:"status,omitzero"`
}

// RestoreList is a list of Restores.
//
// +kubebuilder:object:root=true
type RestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Restore `json:"items"`
}

// RestoreSpec is which dump is loaded, and into which MariaDB.
type RestoreSpec struct {
	MariaDBRef         NameRef      `json:"mariaDbRef"`
	S3                 *S3          `json:"s3,omitempty"`
	Volume             *Volume      `json:"volume,omitempty"`
	TargetRecoveryTime *metav1.Time `json:"targetRecoveryTime,omitempty"`
	InheritMetadata    *Metadata    `json:"inheritMetadata,omitempty"`
}

// NameRef is the name of an object.
type NameRef struct {
	Name string `json:"name"`
}

// Schedule is when dumps are taken.
type Schedule struct {
	Cron    string `json:"cron"`
	Suspend bool   `json:"suspend"`
}

// Metadata are the labels of all objects and pods of a Backup or a Restore.
type Metadata struct {
	Labels map[string]string `json:"labels,omitempty"`
}

// DumpStorage is where dumps are stored.
type DumpStorage struct {
	S3     *S3     `json:"s3,omitempty"`
	Volume *Volume `json:"volume,omitempty"`
}

// Volume is a volume with dumps.
type Volume struct {
	PersistentVolumeClaim *Claim `json:"persistentVolumeClaim,omitempty"`
}

// Claim is an existing PersistentVolumeClaim.
type Claim struct {
	ClaimName string `json:"claimName"`
}

// S3 is a folder in a bucket.
type S3 struct {
	Bucket                      string     `json:"bucket"`
	Endpoint                    string     `json:"endpoint"`
	Region                      string     `json:"region,omitempty"`
	Prefix                      string     `json:"prefix,omitempty"`
	AccessKeyIDSecretKeyRef     *SecretKey `json:"accessKeyIdSecretKeyRef,omitempty"`
	SecretAccessKeySecretKeyRef *SecretKey `json:"secretAccessKeySecretKeyRef,omitempty"`
	TLS                         *S3TLS     `json:"tls,omitempty"`
}

// S3TLS is whether the store is reached by HTTPS, and with which CA.
type S3TLS struct {
	Enabled        bool       `json:"enabled"`
	CASecretKeyRef *SecretKey `json:"caSecretKeyRef,omitempty"`
}

// SecretKey is a key of a Secret.
type SecretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}
