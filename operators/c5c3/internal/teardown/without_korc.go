package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
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
	logins, err := userSecrets(ctx, s)
	if err != nil {
		return nil, err
	}
	var users []string
	for _, login := range logins {
		// The Secret with an application credential is beside that of its user.
		if name := login.Data[services.KeyUsername]; len(name) > 0 {
			users = append(users, "the user "+string(name))
		}
	}
	return users, nil
}

// userSecrets returns the control plane's Secrets of service users.
func userSecrets(ctx context.Context, s *pass.Pass) ([]corev1.Secret, error) {
	var all corev1.SecretList
	if err := s.Client.List(ctx, &all, client.InNamespace(s.CP.Namespace), client.HasLabels{c5c3v1alpha1.LabelServiceUser}); err != nil {
		return nil, fmt.Errorf("listing the Secrets of the users of services: %w", err)
	}
	return slices.DeleteFunc(all.Items, func(secret corev1.Secret) bool { return !metav1.IsControlledBy(&secret, s.CP) }), nil
}
