package database

import (
	"context"
	"net/url"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database/mariadb"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// consult takes over from the MariaDB of a managed database what the spec leaves to it: the
// Service that takes writes and, if the spec does not mention TLS and the MariaDB requires
// it, the certificates. theirs reports whether these are those of the MariaDB. While the
// MariaDB is unknown, all is as in the connection that was written last, so that nothing
// changes because a MariaDB is away.
func consult(ctx context.Context, p *service.Pass) (theirs bool, err error) {
	db := &p.Data.Database
	if !db.IsManaged() {
		return false, nil
	}
	silent := db.TLS == nil
	server, err := findServer(ctx, p)
	if server == nil {
		if before := lastConnection(ctx, p); before != nil {
			remember(p, before)
		}
		return silent && db.TLS != nil, err
	}
	if mariadb.Replicates(server) {
		p.DatabaseHost = primaryHost(p)
	}
	if silent && server.IsTLSRequired() {
		db.TLS = mariadb.TLS(server)
	}
	return silent && db.TLS != nil, nil
}

// findServer returns the MariaDB, nil if it does not exist or cannot be read.
func findServer(ctx context.Context, p *service.Pass) (*mariadbv1alpha1.MariaDB, error) {
	if !p.Kinds.Served(mariadb.Server) {
		return nil, nil
	}
	return apply.Find(ctx, p.ThirdParty, p.Key(p.Data.Database.ClusterRef.Name), &mariadbv1alpha1.MariaDB{})
}

// lastConnection returns the URL that the operator has written for the pods, nil if there
// is none or if it cannot be read.
func lastConnection(ctx context.Context, p *service.Pass) *url.URL {
	secret, err := p.Owned.Find(ctx, p.Key(SecretName(p.Resource.GetName())))
	if secret == nil || err != nil || !secrets.IsWritten(p.Resource, secret) {
		return nil
	}
	parsed, err := url.Parse(string(secret.Data[connectionKey]))
	if err != nil {
		return nil
	}
	return parsed
}

// remember takes over what [consult] took over when the connection was written.
func remember(p *service.Pass, before *url.URL) {
	if host := primaryHost(p); before.Hostname() == host {
		p.DatabaseHost = host
	}
	if options := before.Query(); p.Data.Database.TLS == nil && options.Has(optionCA) {
		p.Data.Database.TLS = mariadb.TLS(mariadb.Named(p.Data.Database.ClusterRef.Name))
		if options.Get(optionCheckHost) != "true" {
			p.Data.Database.TLS.Mode = commonv1.DatabaseTLSVerifyCA
		}
	}
}

// primaryHost returns the host of the server that takes writes.
func primaryHost(p *service.Pass) string {
	return serviceHost(p, mariadb.Named(p.Data.Database.ClusterRef.Name).PrimaryServiceKey().Name)
}

// serviceHost returns the name in DNS of a Service in the namespace of the resource.
func serviceHost(p *service.Pass, name string) string {
	return name + "." + p.Resource.GetNamespace() + ".svc"
}
