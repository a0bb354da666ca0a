//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// staff is what a run with a Placement is judged by, in addition to its state.
type staff struct {
	State state
	// Users counts the users in Keystone, Assigned their roles, and Secrets the Secrets
	// with a user's password.
	Users, Assigned, Secrets int
}

// withPlacement describes a ControlPlane with a Placement.
func withPlacement() conformance.Trial[*c5c3v1alpha1.ControlPlane] {
	k := controlPlanes(placement)
	k.Settled, k.Observe, k.Left, k.Gone = hasOneServiceUser, observeStaff, leftoverStaff, serviceUserDeleted
	return conformance.Trial[*c5c3v1alpha1.ControlPlane]{Kind: k, World: &conform}
}

// loginOf returns the Secret with the user that the Placement has.
func loginOf(ctx context.Context, namespace string) (*corev1.Secret, error) {
	p, secret := &placementv1alpha1.Placement{}, &corev1.Secret{}
	if err := conform.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "controlplane-placement"}, p); err != nil {
		return nil, err
	}
	return secret, conform.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: p.Spec.ServiceUserSecretRef.Name}, secret)
}

func accepts(namespace string, login *corev1.Secret) bool {
	if id := string(login.Data["application_credential_id"]); id != "" {
		return korc.Accepts(namespace, id, string(login.Data["application_credential_secret"]))
	}
	return korc.Accepts(namespace, korc.Names(namespace, "User")[string(login.Data["username"])], string(login.Data["password"]))
}

// lookForRefusedUser records whether the Placement cannot log in.
func lookForRefusedUser(ctx context.Context, namespace string) error {
	login, err := loginOf(ctx, namespace)
	if err != nil || accepts(namespace, login) {
		return err
	}
	now, err := loginOf(ctx, namespace)
	if err == nil && now.Name == login.Name {
		breaches.Store(namespace, fmt.Errorf("keystone refused the login %s that the Placement had", login.Name))
	}
	return err
}

func observeStaff(ctx context.Context, namespace string) (any, error) {
	s, err := observe(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var secrets corev1.SecretList
	if err := conform.Admin.List(ctx, &secrets, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	seen := staff{State: s, Users: len(korc.Names(namespace, "User")), Assigned: korc.Assigned(namespace)}
	for _, secret := range secrets.Items {
		if len(secret.Data["password"]) > 0 && len(secret.Data["username"]) == len("placement-12345678") {
			seen.Secrets++
		}
	}
	return seen, nil
}

// hasOneServiceUser returns nil if the Placement has the only user apart from the administrator.
func hasOneServiceUser(ctx context.Context, namespace string) error {
	return errors.Join(hasOneCredential(ctx, namespace), onlyOneServiceUser(ctx, namespace))
}

// bothHaveACredential returns nil if the administrator and the Placement's user, the only one
// apart from that, have an application credential each.
func bothHaveACredential(ctx context.Context, namespace string) error {
	return errors.Join(hasCredentials(ctx, namespace, 2), onlyOneServiceUser(ctx, namespace))
}

func onlyOneServiceUser(ctx context.Context, namespace string) error {
	var objects orcv1alpha1.UserList
	if err := conform.Admin.List(ctx, &objects, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(objects.Items) != 2 || len(korc.Names(namespace, "User")) != 2 {
		return fmt.Errorf("there are %d users", len(objects.Items))
	}
	return nil
}

func leftoverStaff(ctx context.Context, namespace string) (any, error) {
	found, err := observeStaff(ctx, namespace)
	if err != nil {
		return nil, err
	}
	left := found.(staff)
	left.State.Conditions, left.State.Objects, left.Secrets = nil, 0, 0
	return left, nil
}

// serviceUserDeleted returns nil if a deletion has left only the administrator.
func serviceUserDeleted(ctx context.Context, namespace string) error {
	found, err := leftoverStaff(ctx, namespace)
	if left, _ := found.(staff); err == nil && (left.Users != 1 || left.Assigned != 0) {
		err = fmt.Errorf("%d users with %d roles are left", left.Users-1, left.Assigned)
	}
	return err
}

func TestAnOperatorKilledWhileCreatingPlacementMakesOneServiceUser(t *testing.T) {
	t.Parallel()
	way := withPlacement().Way(transport.KillAfter)
	way.Long = true
	way.Writes = map[string]int{
		"apply placements.placement.openstack.c5c3.io": 1, "apply projects.openstack.k-orc.cloud": 1, "apply roles.openstack.k-orc.cloud": 1,
		"apply users.openstack.k-orc.cloud": 2, "create secrets": 4, "apply services.openstack.k-orc.cloud": 2,
		"apply endpoints.openstack.k-orc.cloud": 2, "apply externalsecrets.external-secrets.io": 4,
	}
	crashwalk.Walk(t, way)
}

func TestAnOperatorKilledWhileThePasswordOfPlacementIsReplacedLeavesNoGap(t *testing.T) {
	t.Parallel()
	walkReplacement(t, withPlacement(), map[string]int{
		"update secrets": 1, "create secrets": 1, "apply users.openstack.k-orc.cloud": 1, "apply placements.placement.openstack.c5c3.io": 1,
		"patch users.openstack.k-orc.cloud": 1, "delete secrets": 1, "delete users.openstack.k-orc.cloud": 1, updateStatus: 1,
	})
}

func TestAnOperatorKilledWhileTheCredentialOfPlacementIsReplacedLeavesNoGap(t *testing.T) {
	t.Parallel()
	trial := withPlacement()
	trial.Settled, trial.New = bothHaveACredential, controlPlanes(placement, withCredentials).New
	walkReplacement(t, trial, map[string]int{
		"update secrets": 1, "create secrets": 2, "apply users.openstack.k-orc.cloud": 1, applyCredential: 1,
		"apply placements.placement.openstack.c5c3.io": 1, "patch users.openstack.k-orc.cloud": 1,
		"patch applicationcredentials.openstack.k-orc.cloud": 2, "delete secrets": 2, deleteCredential: 1,
		"delete users.openstack.k-orc.cloud": 1, updateStatus: 1,
	})
}

// withCredentials lets the services log in with application credentials.
func withCredentials(cp *c5c3v1alpha1.ControlPlane) {
	cp.Spec.ServiceUsers.Authentication = c5c3v1alpha1.AuthenticationApplicationCredential
}

// walkReplacement kills the operator at each of the writes with which it replaces the login of
// the Placement.
func walkReplacement(t *testing.T, trial conformance.Trial[*c5c3v1alpha1.ControlPlane], writes map[string]int) {
	t.Helper()
	before := sync.Map{}
	request := func(ctx context.Context, namespace string) error {
		login, err := loginOf(ctx, namespace)
		if err != nil {
			return err
		}
		before.Store(namespace, login.Name)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "controlplane-placement-service-user"}}
		if err := trial.Admin.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, "now")
		return trial.Admin.Update(ctx, secret)
	}
	way := trial.Way()
	way.Prepare = func(ctx context.Context) (string, error) { return trial.Changed(ctx, request) }
	way.Writes = writes
	way.Settled = func(ctx context.Context, namespace string) error {
		if err := lookForRefusedUser(ctx, namespace); err != nil {
			return err
		}
		old, _ := before.Load(namespace)
		if login, err := loginOf(ctx, namespace); err != nil || login.Name == old {
			return errors.Join(errors.New("the Placement has the old user"), err)
		}
		return trial.Converged(ctx, namespace)
	}
	compare := way.Compare
	way.Compare = func(undisturbed, failed, final any) string {
		if left := final.(staff); left.Users != 2 || left.Secrets != 1 {
			return fmt.Sprintf("%d users and %d Secrets are left", left.Users, left.Secrets)
		}
		return compare(undisturbed, failed, final)
	}
	withoutBreach(t)
	crashwalk.Walk(t, way)
}

func TestAnOperatorKilledDuringDeletionRemovesTheServiceUser(t *testing.T) {
	t.Parallel()
	way := withPlacement().Deletion()
	way.Long = true
	way.Writes = map[string]int{
		"delete users.openstack.k-orc.cloud": 2, "delete projects.openstack.k-orc.cloud": 1, "delete roles.openstack.k-orc.cloud": 1,
		"delete placements.placement.openstack.c5c3.io": 1, "delete keystones.keystone.openstack.c5c3.io": 1,
		"patch controlplanes.c5c3.io": 1, updateStatus: 1,
	}
	crashwalk.Walk(t, way)
}
