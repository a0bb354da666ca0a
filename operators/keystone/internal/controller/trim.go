package controller

import (
	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
)

// TrimForeign drops from objects that the operator never applies the record of
// who wrote which field; that is most of a small object. It is for the cache.
func TrimForeign(obj any) (any, error) {
	switch foreign := obj.(type) {
	case *mariadbv1alpha1.MariaDB:
		foreign.ManagedFields = nil
	case *esov1.ExternalSecret:
		foreign.ManagedFields = nil
	case *esov1.ClusterSecretStore:
		foreign.ManagedFields = nil
	}
	return obj, nil
}
