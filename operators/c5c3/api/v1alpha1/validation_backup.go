package v1alpha1

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	"github.com/c5c3/forge/internal/common/schedule"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const minRetention = time.Hour

var backupRules = rules.Table[*ControlPlane]{
	{Path: "spec.backup", Check: checkBackedUpDatabase},
	{Path: "spec.backup.schedule", Check: ofBackup(checkBackupSchedule)},
	{Path: "spec.backup.retention", Check: ofBackup(checkRetention)},
	{Path: "spec.backup.encryptionKeySecretRef", Check: ofBackup(func(b *BackupSpec, at *field.Path) field.ErrorList {
		return commonv1.ValidateSecretRef(b.EncryptionKeySecretRef, at)
	})},
	{Path: "spec.backup.storage", Check: ofBackup(checkBackupStorage)},
	{Path: "spec.backup.storage.persistentVolumeClaim.claimName", Check: ofBackup(checkBackupClaim)},
	{Path: "spec.backup.storage.s3", Check: ofBackup(checkBackupS3)},
}

// ofBackup applies a check to control planes with backups.
func ofBackup(check func(*BackupSpec, *field.Path) field.ErrorList) rules.Check[*ControlPlane] {
	return func(cp *ControlPlane, at *field.Path) field.ErrorList {
		if cp.Spec.Backup == nil {
			return nil
		}
		return check(cp.Spec.Backup, at)
	}
}

func checkBackedUpDatabase(cp *ControlPlane, at *field.Path) field.ErrorList {
	if cp.Spec.Backup == nil || cp.Spec.Infrastructure.Database.IsManaged() {
		return nil
	}
	return field.ErrorList{field.Forbidden(at,
		"backup requires infrastructure.database.clusterRef: back up a database of your own with its own tools, "+
			"and Keystone's keys with the secret store")}
}

func checkBackupSchedule(b *BackupSpec, at *field.Path) field.ErrorList {
	if b.Schedule == "" {
		return field.ErrorList{field.Required(at, "set when backups are taken, for example 0 1 * * *")}
	}
	if err := schedule.Validate(b.Schedule); err != nil {
		return field.ErrorList{field.Invalid(at, b.Schedule, err.Error())}
	}
	return nil
}

func checkRetention(b *BackupSpec, at *field.Path) field.ErrorList {
	if b.Retention == nil || b.Retention.Duration >= minRetention {
		return nil
	}
	return field.ErrorList{field.Invalid(at, b.Retention.Duration.String(), "retention must be at least 1h, for example 720h")}
}

func checkBackupStorage(b *BackupSpec, at *field.Path) field.ErrorList {
	if (b.Storage.S3 != nil) != (b.Storage.PersistentVolumeClaim != nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, "", "exactly one of s3 or persistentVolumeClaim must be set")}
}

func checkBackupClaim(b *BackupSpec, at *field.Path) field.ErrorList {
	if b.Storage.PersistentVolumeClaim == nil {
		return nil
	}
	return objectName(b.Storage.PersistentVolumeClaim.ClaimName, at)
}

// The names in an S3 store. mariadb-operator finds no dump whose path has a dot before the
// date.
var (
	bucketName = regexp.MustCompile(`^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`)
	s3Endpoint = regexp.MustCompile(`^[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	s3Region   = regexp.MustCompile(`^[-a-zA-Z0-9]*$`)
	s3Prefix   = regexp.MustCompile(`^([-_a-zA-Z0-9]+(/[-_a-zA-Z0-9]+)*)?$`)
)

func checkBackupS3(b *BackupSpec, at *field.Path) field.ErrorList {
	s3 := b.Storage.S3
	if s3 == nil {
		return nil
	}
	var errs field.ErrorList
	for _, text := range []struct {
		child, value, message string
		pattern               *regexp.Regexp
	}{
		{"bucket", s3.Bucket, "must be the name of a bucket, for example openstack-backups", bucketName},
		{"endpoint", s3.Endpoint, "must be a host with an optional port, for example s3.example.com:9000", s3Endpoint},
		{"region", s3.Region, "must consist of letters, digits and dashes", s3Region},
		{"prefix", s3.Prefix, "must be folders without dots, separated by slashes, for example forge/eu", s3Prefix},
	} {
		if !text.pattern.MatchString(text.value) {
			errs = append(errs, field.Invalid(at.Child(text.child), text.value, text.message))
		}
	}
	errs = append(errs, objectName(s3.CredentialsSecretName, at.Child("credentialsSecretName"))...)
	if s3.CABundleSecretRef != nil {
		errs = append(errs, commonv1.ValidateSecretRef(*s3.CABundleSecretRef, at.Child("caBundleSecretRef"))...)
	}
	return errs
}

func objectName(name string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	return errs
}
