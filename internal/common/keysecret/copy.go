package keysecret

import (
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// backup returns the name of the PushSecret.
func (k Keys) backup(p *service.Pass) string { return k.Of(p) + "-backup" }

// path returns the path of the copy, relative to the mount of the store.
func (k Keys) path(p *service.Pass) string { return folder(p) + "/" + k.Name }

// folder returns the common prefix of the paths of all copies.
func folder(p *service.Pass) string {
	return p.Cluster.StorePath("openstack", p.CodeName, p.Resource.GetNamespace(), p.Resource.GetName())
}

// push copies the whole Secret. External Secrets removes the copy with the PushSecret,
// unless the database that only these keys can read is kept. It pushes only when the
// PushSecret changes, and therefore only keys that were validated; [secrets.RepeatPush]
// changes it periodically.
func (k Keys) push(p *service.Pass, source *corev1.Secret) *esov1alpha1.PushSecret {
	policy := esov1alpha1.PushSecretDeletionPolicyDelete
	if p.Data.KeepsData() {
		policy = esov1alpha1.PushSecretDeletionPolicyNone
	}
	push := NewPush(p, k.backup(p), source, policy,
		esov1alpha1.PushSecretMatch{RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: k.path(p)}})
	if database := source.Annotations[commonv1.AnnotationDatabase]; database != "" {
		push.Annotations[commonv1.AnnotationDatabase] = database
		push.Spec.Template = &esov1.ExternalSecretTemplate{
			EngineVersion: esov1.TemplateEngineV2, MergePolicy: esov1.MergePolicyReplace, Data: map[string]string{databaseEntry: database},
		}
	}
	return push
}

// databaseEntry is the entry of a copy in the store that says to which database its keys
// belong. No key has that name.
const databaseEntry = "database"

// otherCopy says that the copy in the store belongs to another database.
func (k Keys) otherCopy(p *service.Pass, other string) string {
	return fmt.Sprintf("%s in the secret store holds the keys of database %s, and the database of this %s is %s; "+
		"move them to another path and delete this one, or use another name for this %s",
		k.path(p), other, p.Kind, p.DatabaseIdentity(), p.Kind)
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
