package controller

import (
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/kit"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// keystoneSchema declares the schema of Keystone's database.
var keystoneSchema = schema.Schema{
	Database: pass.Database,
	Sync:     pass.Manage("db_sync"),
	Check:    []string{"/bin/sh", "-eu", "-c", "keystone-manage --config-dir=" + pass.ConfigDir + " db_sync --check"},
	// These exit codes mean that expand, migrate or contract is needed
	// (https://docs.openstack.org/keystone/latest/cli/).
	CheckResults: []int32{2, 3, 4},
	Login:        []string{"/bin/sh", "-eu", "-c", loginScript},
	Reach:        []string{"/bin/sh", "-eu", "-c", reachScript},
	Expand:       pass.Manage("db_sync", "--expand"),
	Migrate:      pass.Manage("db_sync", "--migrate"),
	Contract:     pass.Manage("db_sync", "--contract"),
	SLURP:        keystonev1alpha1.SLURP,
	SyncMigrates: true,
	RunAgain:     keystonev1alpha1.AnnotationRunAgain,
	First:        inspection.First,
}

// steps are those that every service has.
var steps = kit.Steps[*pass.Scope]{Schema: keystoneSchema}

// loginScript queries the schema revision and only checks whether the database accepted
// the login: between expansion and contraction, and after an aborted upgrade, the
// revision is not that of the image. An image that is older than the schema does not know
// the revision at all (alembic's "Can't locate revision"). Exit code 2 means a database
// without a schema, on which no pod may start.
const loginScript = `code=0
output=$(keystone-manage --config-dir=` + pass.ConfigDir + ` db_sync --check 2>&1) || code=$?
printf '%s\n' "$output" >&2
case $code in
0 | 3 | 4) exit 0 ;;
esac
printf '%s\n' "$output" | grep -q "Can't locate revision"
`

// reachScript fails for a database without a schema, and for one with a revision that the
// image does not know, because it has none of the migrations that lead there.
const reachScript = `revision=$(keystone-manage --config-dir=` + pass.ConfigDir + ` db_version)
echo "the schema has revision $revision" >&2
[ "$revision" != None ]
`
