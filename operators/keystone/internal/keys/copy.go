package keys

import (
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/pushsecret"
)

// keyBackup is the copy of one key Secret in the secret store.
type keyBackup struct {
	// source is the name of the key Secret.
	source func(*keystonev1alpha1.Keystone) string
	// entry is the last element of the path in the store.
	entry string
}

var (
	fernetBackup     = keyBackup{source: pass.FernetKeysName, entry: "fernet-keys"}
	credentialBackup = keyBackup{source: pass.CredentialKeysName, entry: "credential-keys"}

	keyBackups = []keyBackup{fernetBackup, credentialBackup}
)

func (b keyBackup) name(k *keystonev1alpha1.Keystone) string { return b.source(k) + "-backup" }

// path returns the path of the copy, relative to the mount of the store.
func (b keyBackup) path(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keysPath(c, k) + "/" + b.entry
}

// keysPath returns the common prefix of the paths of all copies.
func keysPath(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.StorePath(c, k.Namespace, k.Name)
}

// push copies the whole Secret. External Secrets removes the copy with the PushSecret,
// unless the database that only these keys can read is kept. It pushes only when the
// PushSecret changes, and therefore only keys that were validated; [secrets.RepeatPush]
// changes it periodically.
func (b keyBackup) push(c cluster.Settings, k *keystonev1alpha1.Keystone, source *corev1.Secret) *esov1alpha1.PushSecret {
	policy := esov1alpha1.PushSecretDeletionPolicyDelete
	if k.Spec.KeepsData() {
		policy = esov1alpha1.PushSecretDeletionPolicyNone
	}
	push := pushsecret.New(k, b.name(k), source, policy,
		esov1alpha1.PushSecretMatch{RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: b.path(c, k)}})
	if database := source.Annotations[commonv1.AnnotationDatabase]; database != "" {
		push.Annotations[commonv1.AnnotationDatabase] = database
		push.Spec.Template = &esov1.ExternalSecretTemplate{
			EngineVersion: esov1.TemplateEngineV2, MergePolicy: esov1.MergePolicyReplace, Data: map[string]string{databaseEntry: database},
		}
	}
	return push
}

// databaseEntry is the entry of a copy in the store that says to which database its keys
// belong. Keys themselves have numbers as names.
const databaseEntry = "database"

// otherCopy says that the copy in the store belongs to another database.
func (b keyBackup) otherCopy(s *pass.Scope, other string) string {
	return fmt.Sprintf("%s in the secret store holds the keys of database %s, and the database of this Keystone is %s; "+
		"move them to another path and delete this one, or use another name for this Keystone",
		b.path(s.Cluster, s.Resource), other, s.DatabaseIdentity())
}

// unpacked moves the entry of a copy from the store to the annotation of the Secret.
func unpacked(secret *corev1.Secret) *corev1.Secret {
	database, found := secret.Data[databaseEntry]
	if !found {
		return secret
	}
	unpacked := secret.DeepCopy()
	delete(unpacked.Data, databaseEntry)
	if _, marked := secret.Annotations[commonv1.AnnotationDatabase]; !marked {
		metav1.SetMetaDataAnnotation(&unpacked.ObjectMeta, commonv1.AnnotationDatabase, string(database))
	}
	return unpacked
}
