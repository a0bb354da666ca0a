package services

import (
	"context"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// restoreManager is the field manager of the annotations that a restore sets.
const restoreManager = "forge-restore"

// RunAgain makes the operators of existing services install the schema again, once for each
// request: a restored database may have an older one.
func (all List) RunAgain(ctx context.Context, s *pass.Pass, request string) error {
	for _, svc := range all.wantedBy(s.CP).withDatabase() {
		if !s.Kinds.Served(svc.Kind) {
			continue
		}
		live, err := apply.Find(ctx, s.ThirdParty, pass.Key(s, svc.childName(s.CP)), svc.Empty())
		if err != nil {
			return err
		}
		if live == nil || live.GetAnnotations()[svc.Database.runAgain] == request {
			continue
		}
		fields := map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{svc.Database.runAgain: request},
		}}
		if err := apply.Fields(ctx, s.ThirdParty, live, fields, restoreManager); err != nil {
			return err
		}
	}
	return nil
}
