package v1alpha1

import (
	"time"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	backupPath  = "spec.backup"
	storagePath = backupPath + ".storage"
	s3Path      = storagePath + ".s3"

	oneStorage = "exactly one of s3 or persistentVolumeClaim must be set"
)

// scheduledBackup is a backup with everything set that one in a bucket can have.
func scheduledBackup() *BackupSpec {
	return &BackupSpec{
		Schedule: "0 1 * * *", Suspend: true, Retention: every(720 * time.Hour),
		EncryptionKeySecretRef: commonv1.SecretRefSpec{Name: "backup-key", Key: "key"},
		Storage: BackupStorageSpec{S3: &BackupS3Spec{
			Bucket: "openstack-backups", Endpoint: "s3.example.com:9000", Region: "eu-west-1", Prefix: "forge/eu",
			CredentialsSecretName: "backup-s3", CABundleSecretRef: &commonv1.SecretRefSpec{Name: "s3-ca", Key: "ca.crt"}, Insecure: true,
		}},
	}
}

func backedUp(change func(*BackupSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		cp.Spec.Backup = scheduledBackup()
		change(cp.Spec.Backup)
	}
}

func backedUpToS3(change func(*BackupS3Spec)) func(*ControlPlane) {
	return backedUp(func(b *BackupSpec) { change(b.Storage.S3) })
}

func inClaim(name string) func(*BackupSpec) {
	return func(b *BackupSpec) {
		b.Storage = BackupStorageSpec{PersistentVolumeClaim: &BackupClaimSpec{ClaimName: name}}
	}
}

func backupViolations() []violation {
	const notManaged, short = "backup requires infrastructure.database.clusterRef", "retention must be at least 1h"
	return []violation{
		{
			"a backup of an external database", func(cp *ControlPlane) {
				cp.Spec.Infrastructure.Database.DatabaseSpec = externalDatabase()
				cp.Spec.Backup = scheduledBackup()
			}, backupPath, notManaged, notManaged, "",
		},
		{
			"a backup without a schedule", backedUp(func(b *BackupSpec) { b.Schedule = "" }),
			backupPath + ".schedule", "set when backups are taken", apitest.TooShort, "",
		},
		{
			"a backup on an impossible schedule", backedUp(func(b *BackupSpec) { b.Schedule = "at night" }),
			backupPath + ".schedule", "invalid cron expression", "", "",
		},
		{
			"a backup in a time zone", backedUp(func(b *BackupSpec) { b.Schedule = "TZ=UTC 0 1 * * *" }),
			backupPath + ".schedule", "TZ and CRON_TZ are not allowed", "", "",
		},
		{
			"a retention of a minute", backedUp(func(b *BackupSpec) { b.Retention = every(time.Minute) }),
			backupPath + ".retention", short, short, "",
		},
		{
			"an encryption key in a Secret that cannot exist", backedUp(func(b *BackupSpec) { b.EncryptionKeySecretRef.Name = "Backup_Key" }),
			backupPath + ".encryptionKeySecretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"an encryption key under an impossible key", backedUp(func(b *BackupSpec) { b.EncryptionKeySecretRef.Key = "age key" }),
			backupPath + ".encryptionKeySecretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
		{"a backup without storage", backedUp(func(b *BackupSpec) { b.Storage = BackupStorageSpec{} }), storagePath, oneStorage, oneStorage, ""},
		{
			"a backup in two places", backedUp(func(b *BackupSpec) { b.Storage.PersistentVolumeClaim = &BackupClaimSpec{ClaimName: "backups"} }),
			storagePath, oneStorage, oneStorage, "",
		},
		{
			"a backup in a claim that cannot exist", backedUp(inClaim("Back_ups")),
			storagePath + ".persistentVolumeClaim.claimName", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"a bucket with a short name", backedUpToS3(func(s *BackupS3Spec) { s.Bucket = "b" }),
			s3Path + ".bucket", "must be the name of a bucket", apitest.NoMatch, "",
		},
		{
			"a bucket with a space", backedUpToS3(func(s *BackupS3Spec) { s.Bucket = "open stack" }),
			s3Path + ".bucket", "must be the name of a bucket", apitest.NoMatch, "",
		},
		{
			"an endpoint with a scheme", backedUpToS3(func(s *BackupS3Spec) { s.Endpoint = "https://s3.example.com" }),
			s3Path + ".endpoint", "must be a host with an optional port", apitest.NoMatch, "",
		},
		{
			"a region with a space", backedUpToS3(func(s *BackupS3Spec) { s.Region = "eu west" }),
			s3Path + ".region", "must consist of letters, digits and dashes", apitest.NoMatch, "",
		},
		{
			"a prefix that begins with a slash", backedUpToS3(func(s *BackupS3Spec) { s.Prefix = "/forge" }),
			s3Path + ".prefix", "must be folders without dots, separated by slashes", apitest.NoMatch, "",
		},
		{
			"an access key in a Secret that cannot exist", backedUpToS3(func(s *BackupS3Spec) { s.CredentialsSecretName = "S3_Key" }),
			s3Path + ".credentialsSecretName", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"a CA in a Secret that cannot exist", backedUpToS3(func(s *BackupS3Spec) { s.CABundleSecretRef.Name = "S3_CA" }),
			s3Path + ".caBundleSecretRef.name", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"a CA under an impossible key", backedUpToS3(func(s *BackupS3Spec) { s.CABundleSecretRef.Key = "the ca" }),
			s3Path + ".caBundleSecretRef.key", "a valid config key must consist of", apitest.NoMatch, "",
		},
	}
}
