package pass

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Database declares the database of a Keystone.
var Database = database.Database{Section: "DATABASE", Key: connectionHashKey}

// connectionHashKey returns the UID of the Secret with the credential keys as the key for
// connection hashes. That Secret lives as long as the database and survives the loss of
// the connection Secret. Jobs that run before these keys exist use the UID of the Secret
// with the credentials instead.
func connectionHashKey(ctx context.Context, p *service.Pass) (types.UID, error) {
	found, err := p.Owned.Find(ctx, p.Key(keystonev1alpha1.CredentialKeysName(p.Resource.GetName())))
	if found == nil || err != nil {
		return "", err
	}
	return found.UID, nil
}
