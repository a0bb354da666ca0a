package controller

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keystoneSchema is the schema of Keystone's database.
var keystoneSchema = schema.Schema{
	Database: keystoneDatabase,
	Sync:     manage("db_sync"),
	Check:    []string{"/bin/sh", "-eu", "-c", "keystone-manage --config-dir=" + configDir + " db_sync --check"},
	// Expand, migrate or contract is needed
	// (https://docs.openstack.org/keystone/latest/cli/).
	CheckResults: []int32{2, 3, 4},
	Login:        []string{"/bin/sh", "-eu", "-c", loginScript},
	Expand:       manage("db_sync", "--expand"),
	Migrate:      manage("db_sync", "--migrate"),
	Contract:     manage("db_sync", "--contract"),
	RunAgain:     keystonev1alpha1.AnnotationRunAgain,
	First:        firstSync,
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

// unreadableCredentials is the exit code of credential_keys.py for a database
// with credentials that none of the keys can read.
const unreadableCredentials int32 = 78

// annotationCredentialKeys on the pods of the first db_sync changes with the keys
// that they compare the database with.
const annotationCredentialKeys = "forge.c5c3.io/credential-keys-hash"

// mountedKeys is the Secret with the credential keys that the first db_sync compares
// the database with, nil for none.
var mountedKeys = reconcile.NewSlot[*corev1.Secret]("CredentialKeys")

// firstSync has the first db_sync refuse a database with credentials that need other
// keys than there are. It is tried again when there are others.
func firstSync(p *service.Pass, sync *deployment.Task) {
	sync.Command = []string{"/bin/sh", "-eu", "-c", fmt.Sprintf(
		"python3 %s%s %s\nexec keystone-manage --config-dir=%s db_sync", configDir, credentialKeysFile, credentialKeysDir, configDir)}
	keys := deployment.SecretMount(volumeCredentialKeys, keystonev1alpha1.CredentialKeysName(p.Resource.GetName()), credentialKeysDir+"/")
	keys.Volume.Secret.Optional = ptr.To(true)
	sync.Mounts = append(slices.Clone(sync.Mounts), keys)
	if found := mountedKeys.Value(p.Slots); found != nil {
		sync.Annotations[annotationCredentialKeys] = secrets.ContentHash(found)
	}
	sync.Failure = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: ptr.To(schema.TaskSync), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{unreadableCredentials},
		},
	}}}
}

// keystoneDatabase is the database of a Keystone.
var keystoneDatabase = database.Database{Section: "DATABASE", Key: connectionHashKey}

// connectionHashKey keys the hashes of a connection with the UID of the Secret with the
// credential keys, which lives as long as the database does and outlives a lost
// connection. Jobs that run before there are such keys do with that of the Secret that
// the URL comes from.
func connectionHashKey(ctx context.Context, p *service.Pass) (types.UID, error) {
	found, err := p.Owned.Find(ctx, p.Key(keystonev1alpha1.CredentialKeysName(p.Resource.GetName())))
	if found == nil || err != nil {
		return "", err
	}
	return found.UID, nil
}
