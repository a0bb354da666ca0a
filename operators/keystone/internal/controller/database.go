package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
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
	First:        firstSync,
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

// unreadableCredentials is the exit code of credential_keys.py if the database holds
// credentials that no key can read.
const unreadableCredentials int32 = 78

// annotationCredentialKeys, on the pods of the first db_sync, changes with the keys that
// the pods test against the database.
const annotationCredentialKeys = "forge.c5c3.io/credential-keys-hash"

// mountedKeys is the Secret with the credential keys that the first db_sync tests against
// the database, nil for none.
var mountedKeys = reconcile.NewSlot[*corev1.Secret]("CredentialKeys")

// firstSync makes the first db_sync fail if the database holds credentials that need
// other keys than the existing ones. It is retried when the keys change.
func firstSync(p *service.Pass, sync *deployment.Task) {
	sync.Command = slices.Concat(
		[]string{"python3", pass.ConfigDir + credentialKeysFile, keystonev1alpha1.CredentialKeyRepository}, sync.Command[1:])
	repository := keys.CredentialMount(p.Resource.GetName())
	repository.Volume.Secret.Optional = ptr.To(true)
	sync.Mounts = append(slices.Clone(sync.Mounts), repository)
	if found := mountedKeys.Value(p.Slots); found != nil {
		sync.Annotations[annotationCredentialKeys] = secrets.ContentHash(found)
	}
	sync.Failures = append(sync.Failures, deployment.FailsAtOnce(schema.TaskSync, unreadableCredentials))
}
