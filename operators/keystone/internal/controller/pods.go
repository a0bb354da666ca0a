package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	volumeFernetKeys     = "fernet-keys"
	volumeCredentialKeys = "credential-keys"
	volumeDatabaseTLS    = "db-tls"
)

// connectionVariable hands the database URL to oslo.config without writing it
// to a file or a command line.
func connectionVariable(k *keystonev1alpha1.Keystone) corev1.EnvVar {
	return deployment.SecretVariable(connectionEnv, connectionSecretName(k), connectionKey)
}

// pythonVariable lets Python import what travels with the configuration.
func pythonVariable() corev1.EnvVar {
	return corev1.EnvVar{Name: "PYTHONPATH", Value: configDir}
}

// toolVariables are the environment of every keystone-manage run that logs in
// like the pods.
func toolVariables(k *keystonev1alpha1.Keystone) []corev1.EnvVar {
	return toolVariablesWith(connectionSecretName(k))
}

// toolVariablesWith takes the database URL from the named Secret. The
// configuration lets a server try to reach its database for ever; a Job has to
// end and tell why.
func toolVariablesWith(connectionSecret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		deployment.SecretVariable(connectionEnv, connectionSecret, connectionKey),
		{Name: "OS_DATABASE__MAX_RETRIES", Value: "2"},
		{Name: "OS_DATABASE__RETRY_INTERVAL", Value: "1"},
		pythonVariable(),
	}
}

// keyMounts are the key repositories. They are never subPath mounts, which the
// kubelet does not refresh: a rotation has to reach running pods.
func keyMounts(k *keystonev1alpha1.Keystone) []deployment.Mount {
	return []deployment.Mount{
		deployment.SecretMount(volumeFernetKeys, fernetKeysName(k), fernetKeysDir+"/"),
		deployment.SecretMount(volumeCredentialKeys, credentialKeysName(k), credentialKeysDir+"/"),
	}
}

// databaseTLSMounts is the client certificate for the database, when it wants
// one.
func databaseTLSMounts(k *keystonev1alpha1.Keystone) []deployment.Mount {
	tls := k.Spec.Database.TLS
	if !k.Spec.Database.TLSEnabled() || tls.CABundleSecretRef == nil || tls.ClientCertSecretRef == nil {
		return nil
	}
	return []deployment.Mount{deployment.ProjectedMount(volumeDatabaseTLS, databaseTLSDir,
		deployment.SecretProjection(tls.CABundleSecretRef.Name, corev1.KeyToPath{Key: caBundleKey(tls), Path: caFile}),
		deployment.SecretProjection(tls.ClientCertSecretRef.Name,
			corev1.KeyToPath{Key: corev1.TLSCertKey, Path: corev1.TLSCertKey},
			corev1.KeyToPath{Key: corev1.TLSPrivateKeyKey, Path: corev1.TLSPrivateKeyKey}))}
}

// caFile is the file, and the default key, of the database's CA.
const caFile = "ca.crt"

func caBundleKey(tls *commonv1.DatabaseTLSSpec) string { return tls.CABundleSecretRef.KeyOr(caFile) }

// onRequest adds what a user has asked for to the run key of a task.
func onRequest(k *keystonev1alpha1.Keystone, runKey any) any {
	if request := k.Annotations[keystonev1alpha1.AnnotationRunAgain]; request != "" {
		return []any{runKey, request}
	}
	return runKey
}

// manage is a keystone-manage command line.
func manage(arguments ...string) []string {
	return slices.Concat([]string{"keystone-manage", "--config-dir=" + configDir}, arguments)
}
