package database

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
)

// Env passes the URL in the named Secret to oslo.config without exposing it in a file or
// on a command line. The configuration makes servers retry the database forever; a tool
// has to exit with an error.
func (d Database) Env(secret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		deployment.SecretVariable(d.Variable(), secret, connectionKey),
		{Name: d.option("MAX_RETRIES"), Value: "2"},
		{Name: d.option("RETRY_INTERVAL"), Value: "1"},
	}
}

// ToolEnv returns the environment of the instance's tools that use the same login as the
// pods.
func (d Database) ToolEnv(p *service.Pass) []corev1.EnvVar {
	return append(d.Env(SecretName(p.Resource.GetName())), p.Environment...)
}

// APIEnv passes the URL of the instance to its API pods.
func (d Database) APIEnv(p *service.Pass) corev1.EnvVar {
	return deployment.SecretVariable(d.Variable(), SecretName(p.Resource.GetName()), connectionKey)
}

// TLSMounts mounts the certificates for the database if TLS is enabled.
func TLSMounts(p *service.Pass) []deployment.Mount {
	tls := p.Data.Database.TLS
	if !p.Data.Database.TLSEnabled() || tls.CABundleSecretRef == nil || tls.ClientCertSecretRef == nil {
		return nil
	}
	return []deployment.Mount{deployment.ProjectedMount(volumeTLS, tlsDir(p.Definition),
		deployment.SecretProjection(tls.CABundleSecretRef.Name, corev1.KeyToPath{Key: caBundleKey(tls), Path: caFile}),
		deployment.SecretProjection(tls.ClientCertSecretRef.Name,
			corev1.KeyToPath{Key: corev1.TLSCertKey, Path: corev1.TLSCertKey},
			corev1.KeyToPath{Key: corev1.TLSPrivateKeyKey, Path: corev1.TLSPrivateKeyKey}))}
}
