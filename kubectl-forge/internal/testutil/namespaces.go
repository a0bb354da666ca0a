package testutil

import (
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Of is a namespace with the service.
func Of(resource inventory.Resource) *inventory.Inventory {
	return &inventory.Inventory{Now: Now, Namespace: Namespace, Services: []inventory.Instance{Service(resource)}}
}

// KeystoneIn returns the first service of the namespace, a Keystone.
func KeystoneIn(found *inventory.Inventory) *keystonev1alpha1.Keystone {
	return found.Services[0].Resource.(*keystonev1alpha1.Keystone)
}

// Ready is a namespace with a Keystone that is ready.
func Ready() *inventory.Inventory {
	k := Installed(
		True(vocabulary.ConditionSecretsReady, vocabulary.ReasonSecretsAvailable),
		True(vocabulary.ConditionDatabaseReady, vocabulary.ReasonDatabaseSynced),
		False(vocabulary.ConditionBackupHealthy, vocabulary.ReasonBackupNotConfigured,
			"External Secrets is not installed: keep copies of the key Secrets yourself"),
		True(vocabulary.ConditionReady, vocabulary.ReasonAllReady),
	)
	found := Of(k)
	found.Deployments = []appsv1.Deployment{Deployment(k, 1)}
	found.Pods = []corev1.Pod{APIPod(k, "keystone-6d4b-x7k2p", true, Running("keystone", true))}
	sync := Job(k, "keystone-db-sync", batchv1.JobComplete)
	rotate := batchv1.CronJob{ObjectMeta: Meta("keystone-fernet-rotate", k, "CronJob")}
	rotate.Spec.Schedule = "0 0 * * 0"
	found.Jobs, found.CronJobs = []batchv1.Job{sync}, []batchv1.CronJob{rotate}
	return found
}

// WrongImage is a namespace with a Keystone whose image does not exist.
func WrongImage() *inventory.Inventory {
	const image = "ghcr.io/c5c3/keystone:2025.2-typo"
	k := Installed(NotReady(true,
		False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonDBSyncInProgress,
			`Job keystone-db-sync is installing the database schema: pod keystone-db-sync-q8v4n cannot pull image "`+image+
				`"; check spec.image, spec.imagePullSecrets and that the nodes can reach the registry`),
		True(vocabulary.ConditionDeploymentReady, vocabulary.ReasonDeploymentReady))...)
	found := Of(k)
	sync := Job(k, "keystone-db-sync")
	sync.Status.Active = 1
	found.Jobs = []batchv1.Job{sync}
	found.Deployments = []appsv1.Deployment{Deployment(k, 1)}
	found.Pods = []corev1.Pod{
		APIPod(k, "keystone-6d4b-x7k2p", true, Running("keystone", true)),
		JobPod(&sync, "keystone-db-sync-q8v4n", Waiting("db-sync", image, "ImagePullBackOff")),
	}
	return found
}

// MissingSecret is a namespace without the Secret of the database.
func MissingSecret() *inventory.Inventory {
	return Of(Keystone(NotReady(false, False(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForDBCredentials,
		"Secret keystone-db is missing: create it with the keys username, password"))...))
}

// UnreachableDatabase is a namespace in which no database answers.
func UnreachableDatabase() *inventory.Inventory {
	const message = "2026-11-23 11:55:00.000 1 CRITICAL keystone [-] Unhandled error\n" +
		`sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (2003, "Can't connect to MySQL server on 'mariadb' (timed out)")`
	k := Keystone(NotReady(true,
		False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonDBSyncFailed,
			`Job keystone-db-sync failed: container db-sync of pod keystone-db-sync-q8v4n ended with exit code 1: `+
				`(2003, "Can't connect to MySQL server on 'mariadb' (timed out)")`))...)
	found := Of(k)
	sync := Job(k, "keystone-db-sync", batchv1.JobFailed)
	found.Jobs = []batchv1.Job{sync}
	found.Pods = []corev1.Pod{JobPod(&sync, "keystone-db-sync-q8v4n", Ended("db-sync", message))}
	return found
}

// Quota is a namespace whose quota admits no pod.
func Quota() *inventory.Inventory {
	const refusal = `pods "keystone-6d4b-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4`
	k := Installed(NotReady(false,
		False(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment,
			"The Deployment is rolling out: no pod can be created: exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4; "+
				"raise the ResourceQuota, or lower spec.resources or spec.replicas"))...)
	deployment := Deployment(k, 0)
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: refusal,
		LastTransitionTime: Ago(4 * time.Minute),
	}}
	migrate := Job(k, "keystone-credential-migrate")
	found := Of(k)
	found.Deployments, found.Jobs = []appsv1.Deployment{deployment}, []batchv1.Job{migrate}
	found.Events = []corev1.Event{Warning("Job", &migrate, "FailedCreate", "Error creating: "+refusal)}
	return found
}

// SealedStore is a namespace with a ControlPlane whose secret store is sealed.
func SealedStore() *inventory.Inventory {
	cp := ControlPlane(NotReady(false,
		False(c5c3v1alpha1.ConditionDBCredentialsReady, c5c3v1alpha1.ReasonSecretStoreNotReady,
			"ClusterSecretStore openbao-cluster-store is not ready: unseal or repair the secret backend"),
		False(c5c3v1alpha1.ConditionKORCReady, c5c3v1alpha1.ReasonWaitingForKeystone, "Waiting for DBCredentialsReady"))...)
	found := &inventory.Inventory{Now: Now, Namespace: Namespace, ControlPlanes: []c5c3v1alpha1.ControlPlane{*cp}}
	found.ThirdParty = []unstructured.Unstructured{
		ThirdParty("k8s.mariadb.com/v1alpha1", "MariaDB", "openstack-db", cp, True("Ready", "Running")),
		ThirdParty("external-secrets.io/v1", "ExternalSecret", "controlplane-keystone-db-credentials", cp,
			False("Ready", "SecretSyncedError", "could not get secret data from provider")),
	}
	return found
}

// BrokenService is a namespace with a ControlPlane whose Keystone has pods that
// are not ready.
func BrokenService() *inventory.Inventory {
	cp := ControlPlane(NotReady(false,
		False(c5c3v1alpha1.ConditionKeystoneReady, c5c3v1alpha1.ReasonWaitingForKeystone,
			"Keystone controlplane-keystone is not ready: DeploymentReady (WaitingForDeployment: 0 of 1 replicas available)"),
		False(c5c3v1alpha1.ConditionCatalogReady, c5c3v1alpha1.ReasonWaitingForAdminCredential, "Waiting for KeystoneReady"))...)
	cp.Status.Services = []c5c3v1alpha1.ServiceStatus{{Name: "keystone", Release: "2025.2"}}
	k := Installed(NotReady(false, False(vocabulary.ConditionDeploymentReady, vocabulary.ReasonWaitingForDeployment,
		"The Deployment is rolling out: 1 of 1 replicas updated, 0 available, 1 in total"))...)
	k.ObjectMeta = Meta("controlplane-keystone", cp, inventory.KindKeystone)
	k.Status.OverriddenOptions = []commonv1.OverriddenOption{{Section: "DEFAULT", Option: "debug", By: "spec.extraConfig"}}
	pod := APIPod(k, "controlplane-keystone-6d4b-x7k2p", false, Running("keystone", false))
	server := corev1.Pod{ObjectMeta: Meta("openstack-db-0", nil, "Pod")}
	server.Labels = map[string]string{"app.kubernetes.io/name": "mariadb", "app.kubernetes.io/instance": "openstack-db"}
	found := &inventory.Inventory{
		Now: Now, Namespace: Namespace,
		ControlPlanes: []c5c3v1alpha1.ControlPlane{*cp}, Services: []inventory.Instance{Service(k)},
		Deployments: []appsv1.Deployment{Deployment(k, 0)},
		Pods:        []corev1.Pod{pod, withStatus(server, true, Running("mariadb", true))},
		Events: []corev1.Event{Warning("Pod", &pod, "Unhealthy",
			"Readiness probe failed: HTTP probe failed with statuscode: 503")},
		Unready: map[types.UID]string{pod.UID: "No login to the database at openstack-db:3306 (error 1045)"},
		Gaps:    []error{errors.New("you may not list cronjobs.batch in namespace openstack; ask an administrator for that permission")},
	}
	found.ThirdParty = []unstructured.Unstructured{
		ThirdParty("k8s.mariadb.com/v1alpha1", "MariaDB", "openstack-db", cp, True("Ready", "Running")),
	}
	return found
}

// Upgrading is a namespace with a Keystone whose upgrade has failed.
func Upgrading() *inventory.Inventory {
	k := Installed(NotReady(true, False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonMigrateFailed,
		"Job keystone-db-migrate failed: correct what its log says, or set image.tag to 2025.2 to go back"))...)
	k.Spec.Image.Tag, k.Status.TargetRelease, k.Status.UpgradePhase = "2026.1", "2026.1", commonv1.UpgradePhaseMigrating
	return Of(k)
}

// Unobserved is a namespace with a Keystone that no operator watches.
func Unobserved() *inventory.Inventory { return Of(Keystone()) }

// Deleting is a namespace with a Keystone that waits for its finalizers.
func Deleting() *inventory.Inventory {
	k := Installed(NotReady(false, False(vocabulary.ConditionSecretsReady, vocabulary.ReasonOpenBaoFinalizerBlocked,
		"The backups of the keys are still in the secret store"))...)
	at := Ago(2 * time.Minute)
	k.DeletionTimestamp, k.Finalizers = &at, []string{"keystone.openstack.c5c3.io/openbao"}
	return Of(k)
}
