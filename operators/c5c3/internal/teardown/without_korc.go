package teardown

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// withoutKORC returns what stays if K-ORC was uninstalled. That removes its objects, but
// neither their resources in Keystone nor its finalizers on Secrets.
func withoutKORC(ctx context.Context, s *pass.Pass, keystoneGone bool) (abandoned, error) {
	if err := removeKORCFinalizers(ctx, s, nil); err != nil {
		return abandoned{}, err
	}
	left, err := abandonedUsers(ctx, s)
	if err != nil {
		return abandoned{}, err
	}
	if credential := s.CP.Status.AdminApplicationCredential; credential != nil {
		name := "the application credential " + credential.ID
		if keystoneGone {
			return withoutKeystone(ctx, s, append(left, name))
		}
		err := korc.RevokeByID(ctx, s, credential.ID)
		switch {
		case errors.Is(err, identity.ErrAsking):
			return abandoned{}, reconcile.WaitError("", "Asking Keystone to revoke "+name).After(identity.Timeout)
		case err != nil:
			left = append(left, fmt.Sprintf("%s: %v", name, err))
		}
	}
	return abandoned{"K-ORC was uninstalled", left}, nil
}

// abandonedUsers returns the service users that stay in a Keystone whose database is
// kept. Their IDs are gone with their objects; their Secrets still have their names.
func abandonedUsers(ctx context.Context, s *pass.Pass) ([]string, error) {
	if s.CP.Spec.DeletionPolicy != commonv1.DeletionPolicyRetain && s.CP.Spec.Infrastructure.Database.ClusterRef != nil {
		return nil, nil
	}
	var logins corev1.SecretList
	if err := s.Client.List(ctx, &logins, client.InNamespace(s.CP.Namespace), client.HasLabels{services.LabelServiceUser}); err != nil {
		return nil, fmt.Errorf("listing the Secrets of the users of services: %w", err)
	}
	var users []string
	for i := range logins.Items {
		if metav1.IsControlledBy(&logins.Items[i], s.CP) {
			users = append(users, "the user "+string(logins.Items[i].Data[services.KeyUsername]))
		}
	}
	return users, nil
}
