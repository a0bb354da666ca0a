package apiservice

import (
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Field indexes that every service has, from a name to the resources that refer to it.
// The index of databases is [service.IndexDatabase].
const (
	indexSecret    = "spec.secretRefs.name"
	indexConfigMap = "spec.configMapRefs.name"
	indexMariaDB   = "spec.database.clusterRef.name"
)

// secretRefs are the names of all Secrets that a pass reads like those of users. A foreign
// Secret may have the name of the one with the connection.
func (c Controller[R, T]) secretRefs(resource R) []string {
	spec := resource.ServiceSpec()
	refs := []*commonv1.SecretRefSpec{&spec.Database.SecretRef, spec.ExtraConfigSecretRef}
	if tls := spec.Database.TLS; tls != nil {
		refs = append(refs, tls.CABundleSecretRef, tls.ClientCertSecretRef)
	} else if spec.Database.IsManaged() {
		theirs := mariadb.TLS(mariadb.Named(spec.Database.ClusterRef.Name))
		refs = append(refs, theirs.CABundleSecretRef, theirs.ClientCertSecretRef)
	}
	if user, has := commonv1.ServiceUserOf(resource); has {
		refs = append(refs, user.SecretRef)
	}
	names := []string{database.SecretName(resource.GetName())}
	for _, ref := range refs {
		if ref != nil {
			names = append(names, ref.Name)
		}
	}
	names = append(names, inputs(spec, true)...)
	if c.SecretRefs != nil {
		names = append(names, c.SecretRefs(resource)...)
	}
	return names
}

func configMapRefs[R service.Resource](resource R) []string {
	names := inputs(resource.ServiceSpec(), false)
	if overrides := resource.ServiceSpec().PolicyOverrides; overrides != nil && overrides.ConfigMapRef != nil {
		names = append(names, overrides.ConfigMapRef.Name)
	}
	return names
}

// inputs returns the names of the Secrets, or of the ConfigMaps, that users give pods.
func inputs(spec *commonv1.ServiceSpec, secrets bool) (names []string) {
	for _, input := range spec.Inputs() {
		if input.Secret == secrets {
			names = append(names, input.Name)
		}
	}
	return names
}

func mariaDBs[R service.Resource](resource R) []string {
	if ref := resource.ServiceSpec().Database.ClusterRef; ref != nil {
		return []string{ref.Name}
	}
	return nil
}
