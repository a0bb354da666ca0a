package pass

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Wake withdraws what has stopped an object of a control plane that hibernated.
func Wake(ctx context.Context, s *Pass, obj client.Object) error {
	if obj.GetAnnotations()[vocabulary.AnnotationHibernated] == "" {
		return nil
	}
	return apply.Fields(ctx, s.ThirdParty, obj, nil, vocabulary.HibernationManager)
}
