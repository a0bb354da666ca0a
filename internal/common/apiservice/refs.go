package apiservice

import (
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Field indexes of services, from a name to the resources that refer to it. The index of
// databases is [service.IndexDatabase].
const (
	indexSecret    = "spec.secretRefs.name"
	indexConfigMap = "spec.configMapRefs.name"
	indexMariaDB   = "spec.database.clusterRef.name"
)

// secretRefs are the names of all Secrets that a pass reads like those of users. A foreign
// Secret may have the name of the one with the connection.
func (c Controller[R, T]) secretRefs(resource R) []string {
	var names []string
	var refs []*commonv1.SecretRefSpec
	if data := commonv1.DataOf(resource); data != nil {
		names, refs = append(names, database.SecretName(resource.GetName())), databaseSecrets(data.Database)
	}
	if options := commonv1.OptionsOf(resource); options != nil {
		refs = append(refs, options.ExtraConfigSecretRef)
	}
	if user, has := commonv1.ServiceUserOf(resource); has {
		refs = append(refs, user.SecretRef)
	}
	for _, ref := range refs {
		if ref != nil {
			names = append(names, ref.Name)
		}
	}
	names = append(names, inputs(resource.ServiceSpec(), true)...)
	if c.SecretRefs != nil {
		names = append(names, c.SecretRefs(resource)...)
	}
	return names
}

// databaseSecrets returns the references to the Secrets of a database. Some may be nil.
func databaseSecrets(db commonv1.DatabaseSpec) []*commonv1.SecretRefSpec {
	refs := []*commonv1.SecretRefSpec{&db.SecretRef}
	switch {
	case db.TLS != nil:
		refs = append(refs, db.TLS.CABundleSecretRef, db.TLS.ClientCertSecretRef)
	case db.IsManaged():
		theirs := mariadb.TLS(mariadb.Named(db.ClusterRef.Name))
		refs = append(refs, theirs.CABundleSecretRef, theirs.ClientCertSecretRef)
	}
	return refs
}

func configMapRefs[R service.Resource](resource R) []string {
	names := inputs(resource.ServiceSpec(), false)
	options := commonv1.OptionsOf(resource)
	if options != nil && options.PolicyOverrides != nil && options.PolicyOverrides.ConfigMapRef != nil {
		names = append(names, options.PolicyOverrides.ConfigMapRef.Name)
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
	if data := commonv1.DataOf(resource); data != nil && data.Database.IsManaged() {
		return []string{data.Database.ClusterRef.Name}
	}
	return nil
}
