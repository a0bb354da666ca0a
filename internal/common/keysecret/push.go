package keysecret

import (
	"context"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
)

// NewPush returns a PushSecret from source to the store. External Secrets does not watch the
// source: the hash in the annotations makes it push a change immediately.
func NewPush(
	p *service.Pass, name string, source *corev1.Secret, policy esov1alpha1.PushSecretDeletionPolicy, match esov1alpha1.PushSecretMatch,
) *esov1alpha1.PushSecret {
	meta := p.Meta(name)
	meta.Annotations = map[string]string{secrets.ContentHashAnnotation: secrets.ContentHash(source)}
	return secrets.NewPush(meta, source.Name, policy, 0, match)
}

// FindPush returns the named PushSecret, nil if there is none or it belongs to another
// resource.
func FindPush(ctx context.Context, p *service.Pass, name string) (*esov1alpha1.PushSecret, error) {
	live, err := apply.Find(ctx, p.ThirdParty, p.Key(name), &esov1alpha1.PushSecret{})
	if err != nil || live == nil || !service.Claims(p, live) {
		return nil, err
	}
	return live, nil
}

// Remedy resolves the most frequent failures of External Secrets.
const Remedy = "repair ClusterSecretStore " + secrets.StoreName + " or the backend behind it; " +
	"a path that something else wrote needs the custom metadata managed-by=external-secrets"
