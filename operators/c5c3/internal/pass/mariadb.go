package pass

import (
	"context"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

// MariaDB returns the server of the name, nil if there is none or it is being deleted.
func MariaDB(ctx context.Context, s *Pass, name string) (*infraapi.MariaDB, error) {
	if !s.Kinds.Served(infraapi.MariaDBKind) {
		return nil, nil
	}
	server, err := apply.Find(ctx, s.ThirdParty, Key(s, name), &infraapi.MariaDB{})
	if err != nil || server == nil || !server.DeletionTimestamp.IsZero() {
		return nil, err
	}
	return server, nil
}
