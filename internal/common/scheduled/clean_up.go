package scheduled

import (
	"context"
	"strconv"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// CleanUp declares the CronJob that removes from the database of a service what its users have
// deleted. The resource is a [commonv1.CleanUpDescriber].
type CleanUp struct {
	// What is what they have deleted, as in "secrets".
	What string
	// Database is the database that the Jobs log in to.
	Database database.Database
	// Command returns the command that removes what was deleted at least that many days ago.
	Command func(days string) []string
}

// Reconcile ensures the CronJob. It owns CleanUpReady.
func (c CleanUp) Reconcile(ctx context.Context, p *service.Pass) reconcile.Outcome {
	return Task{
		Name: "clean-up", Does: "removing deleted " + c.What + " from the database", Database: c.Database,
		Ready: vocabulary.ReasonCleanUpReady, Failed: vocabulary.ReasonCleanUpFailed,
	}.Reconcile(ctx, p, c.run(commonv1.CleanUpOf(p.Resource)))
}

// run returns when the Jobs run. The spec is always set, as the defaults of a pass apply with or
// without a webhook.
func (c CleanUp) run(wanted *commonv1.CleanUpSpec) Run {
	return Run{Command: c.Command(strconv.Itoa(int(wanted.MinDays))), Schedule: wanted.Schedule, Suspend: wanted.Suspend}
}
