package database

import "github.com/c5c3/forge/internal/common/service"

// HashAnnotation is the pod annotation with the hash of the database connection.
func HashAnnotation(d *service.Definition) string { return d.CodeName + ".c5c3.io/db-connection-hash" }

// connectionKey is the only key of the connection Secret.
const connectionKey = "connection"

// SecretName returns the name of the Secret with the database URL of the instance.
func SecretName(instance string) string { return instance + "-db-connection" }

func candidateSecret(p *service.Pass) string { return p.Named("db-connection-next") }

func loginsSecret(p *service.Pass) string { return p.Named("db-logins") }
