// Package backup has the step that takes backups of a control plane. mariadb-operator dumps
// the databases on a schedule. The step stores Keystone's keys, encrypted, in a database of
// the same server, so that each dump has the keys of the same moment, and proves that they
// fit.
package backup

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

const defaultRetention = 30 * 24 * time.Hour

// Keys of the Secrets that the spec refers to.
const (
	defaultEncryptionKey = "key"
	defaultCAKey         = "ca.crt"
	accessKeyID          = "access-key-id"
	secretAccessKey      = "secret-access-key"
)

// schedule builds the Backup that dumps the databases.
func schedule(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane, databases []string) *infraapi.Backup {
	spec := cp.Spec.Backup
	retention := metav1.Duration{Duration: defaultRetention}
	if spec.Retention != nil {
		retention = *spec.Retention
	}
	return &infraapi.Backup{
		ObjectMeta: controlplane.ChildMeta(cp, cp.BackupName()),
		Spec: infraapi.BackupSpec{
			MariaDBRef:      infraapi.NameRef{Name: cp.Spec.Infrastructure.Database.ClusterRef.Name},
			Databases:       append(databases, bundleDatabase),
			Schedule:        &infraapi.Schedule{Cron: spec.Schedule, Suspend: spec.Suspend},
			MaxRetention:    retention,
			Storage:         storage(c, cp),
			Compression:     "gzip",
			InheritMetadata: &infraapi.Metadata{Labels: controlplane.Labels(cp)},
		},
	}
}

// storage returns where the dumps of the control plane are stored.
func storage(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) infraapi.DumpStorage {
	spec := cp.Spec.Backup.Storage
	if spec.PersistentVolumeClaim != nil {
		return infraapi.DumpStorage{Volume: &infraapi.Volume{
			PersistentVolumeClaim: &infraapi.Claim{ClaimName: spec.PersistentVolumeClaim.ClaimName},
		}}
	}
	s3 := &infraapi.S3{
		Bucket: spec.S3.Bucket, Endpoint: spec.S3.Endpoint, Region: spec.S3.Region,
		Prefix:                      strings.TrimPrefix(spec.S3.Prefix+"/"+c.StorePath(cp.Namespace, cp.Name), "/"),
		AccessKeyIDSecretKeyRef:     &infraapi.SecretKey{Name: spec.S3.CredentialsSecretName, Key: accessKeyID},
		SecretAccessKeySecretKeyRef: &infraapi.SecretKey{Name: spec.S3.CredentialsSecretName, Key: secretAccessKey},
		TLS:                         &infraapi.S3TLS{Enabled: !spec.S3.Insecure},
	}
	if ca := spec.S3.CABundleSecretRef; ca != nil && s3.TLS.Enabled {
		s3.TLS.CASecretKeyRef = &infraapi.SecretKey{Name: ca.Name, Key: ca.KeyOr(defaultCAKey)}
	}
	return infraapi.DumpStorage{S3: s3}
}

// server is a database server to which a Job connects as root.
type server struct {
	host, image string
	root        infraapi.SecretKey
	pullSecrets []corev1.LocalObjectReference
}

// serverOf returns the access to a MariaDB, ok if mariadb-operator has filled it in.
func serverOf(maria *infraapi.MariaDB) (access server, ok bool) {
	if maria == nil || maria.Spec.RootPasswordSecretKeyRef == nil || maria.Spec.Image == "" {
		return server{}, false
	}
	host := maria.Name
	if maria.Spec.Galera != nil && maria.Spec.Galera.Enabled {
		host += "-primary"
	}
	return server{
		host: host, image: maria.Spec.Image, root: *maria.Spec.RootPasswordSecretKeyRef, pullSecrets: maria.Spec.ImagePullSecrets,
	}, true
}

const (
	// mysqlUser is the user of the images of MariaDB.
	mysqlUser      int64 = 999
	statementsPath       = "/statements"
	statementsKey        = "statements.sql"
)

// mariadbClient runs the MariaDB client, with TLS if the server has it. The password is in a variable
// that it reads.
const mariadbClient = `mariadb --no-defaults --host="$SERVER" --user=root --ssl --skip-ssl-verify-server-cert --batch --skip-column-names`

// runStatements builds a Job that runs the statements in a Secret. It runs again with another
// key.
func runStatements(cp *c5c3v1alpha1.ControlPlane, access server, secret, key string) *batchv1.Job {
	container := access.container("statements", "exec "+mariadbClient+" <"+statementsPath+"/"+statementsKey)
	return access.job(cp, secret, key, container, deployment.SecretMount("statements", secret, statementsPath))
}

// container builds a container that runs a shell command on the server.
func (a server) container(name, command string) corev1.Container {
	return corev1.Container{
		Name: name, Image: a.image, Command: []string{"sh", "-c", command},
		Env: []corev1.EnvVar{
			{Name: "SERVER", Value: a.host},
			deployment.SecretVariable("MYSQL_PWD", a.root.Name, a.root.Key),
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
			// A ResourceQuota may require both limits.
			Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
	}
}

// job builds a Job with the container.
func (a server) job(
	cp *c5c3v1alpha1.ControlPlane, name, key string, container corev1.Container, mounts ...deployment.Mount,
) *batchv1.Job {
	pods := deployment.Pods{UserID: mysqlUser, ImagePullSecrets: a.pullSecrets}
	meta := controlplane.ChildMeta(cp, name)
	meta.Annotations = map[string]string{job.RunKeyAnnotation: key}
	spec := pods.Spec(container, mounts...)
	spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(2)),
			Template:     corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: controlplane.Labels(cp)}, Spec: spec},
		},
	}
}
