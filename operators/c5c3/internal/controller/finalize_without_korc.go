package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// whenKORCMissing is the outcome when K-ORC was uninstalled, which takes its objects
// along, but neither what they stood for nor its finalizers on Secrets.
func (s *scope) whenKORCMissing(ctx context.Context, keystoneGone bool) reconcile.Outcome {
	if err := s.removeKORCFinalizers(ctx, nil); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	left, err := s.abandonedUsers(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonFinalizingORC, err)
	}
	if credential := s.cp.Status.AdminApplicationCredential; credential != nil {
		name := "the application credential " + credential.ID
		if keystoneGone {
			return s.goneWithKeystone(ctx, append(left, name))
		}
		err := s.revokeByID(ctx, credential.ID)
		switch {
		case errors.Is(err, errAsking):
			return reconcile.Waiting(c5c3v1alpha1.ReasonFinalizingORC,
				"Keystone is being asked to revoke "+name).After(identityTimeout)
		case err != nil:
			left = append(left, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(left) > 0 {
		return leftBehind("K-ORC was uninstalled", left)
	}
	return tornDown()
}

// abandonedUsers are the users of services in a Keystone whose database stays. Their
// ids are gone with their objects; their Secrets have their names.
func (s *scope) abandonedUsers(ctx context.Context) ([]string, error) {
	if s.cp.Spec.DeletionPolicy != commonv1.DeletionPolicyRetain && s.cp.Spec.Infrastructure.Database.ClusterRef != nil {
		return nil, nil
	}
	var logins corev1.SecretList
	if err := s.client.List(ctx, &logins, client.InNamespace(s.cp.Namespace), client.HasLabels{labelServiceUser}); err != nil {
		return nil, fmt.Errorf("listing the Secrets of the users of services: %w", err)
	}
	var users []string
	for i := range logins.Items {
		if metav1.IsControlledBy(&logins.Items[i], s.cp) {
			users = append(users, "the user "+string(logins.Items[i].Data[keyUsername]))
		}
	}
	return users, nil
}
