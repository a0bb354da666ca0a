package controller

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Names of the tasks that work on the schema.
const (
	taskSync        = "db-sync"
	taskSchemaCheck = "schema-check"
	taskExpand      = "db-expand"
	taskMigrate     = "db-migrate"
	taskContract    = "db-contract"
)

// annotationUpgradedFrom is on the Job that contracted the schema and tells
// which release the upgrade came from.
const annotationUpgradedFrom = "forge.c5c3.io/upgraded-from"

// annotationConnectionProof is on the Job that expanded the schema and tells
// which connection its success proves.
const annotationConnectionProof = "forge.c5c3.io/connection-proof"

// dbExpand also proves the connection that the pods of the new release get.
func dbExpand(s *scope) deployment.Task {
	expand := databaseTask(s, taskExpand, 4, manage("db_sync", "--expand"))
	expand.JobAnnotations = map[string]string{annotationConnectionProof: s.connectionProof()}
	return expand
}

func dbMigrate(s *scope) deployment.Task {
	return databaseTask(s, taskMigrate, 4, manage("db_sync", "--migrate"))
}

func dbContract(s *scope) deployment.Task {
	contract := databaseTask(s, taskContract, 4, manage("db_sync", "--contract"))
	contract.JobAnnotations = map[string]string{annotationUpgradedFrom: s.keystone.Status.InstalledRelease}
	return contract
}

// loginScript asks for the revision of the schema and judges only whether the
// database let it: between expansion and contraction, and after an aborted
// upgrade, the revision is not the image's. An image that is older than the
// schema does not even know the revision (alembic's "Can't locate revision").
// Exit code 2 is that of a database without a schema, on which no pod may start.
const loginScript = `code=0
output=$(keystone-manage --config-dir=` + configDir + ` db_sync --check 2>&1) || code=$?
printf '%s\n' "$output" >&2
case $code in
0 | 3 | 4) exit 0 ;;
esac
printf '%s\n' "$output" | grep -q "Can't locate revision"
`

// loginCheck proves a changed connection while the revision of the schema is
// not the image's.
func loginCheck(s *scope) deployment.Task {
	check := databaseTask(s, taskSchemaCheck, 2, []string{"/bin/sh", "-eu", "-c", loginScript})
	check.RunKey = []any{check.RunKey, s.connectionProof()}
	return check
}

func (s *scope) checkLogin(ctx context.Context, remedy string) reconcile.Outcome {
	return s.runDatabaseTask(ctx, loginCheck(s), taskReasons{
		running: keystonev1alpha1.ReasonSchemaCheckInProgress, failed: keystonev1alpha1.ReasonDBSyncFailed,
		activity: "checking the database connection", hint: remedy,
	})
}

// schemaMessage is the message of a schema that was found to be the image's.
const schemaMessage = "Database schema is up to date (revision verified)"

func upgradedMessage(from, to string) string {
	return fmt.Sprintf("%s (upgraded %s → %s)", schemaMessage, from, to)
}
