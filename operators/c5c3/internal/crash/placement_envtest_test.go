//go:build integration

package crash

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func withPlacement(cp *c5c3v1alpha1.ControlPlane) {
	cp.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
}

// staff is what a run with a Placement is judged by, in addition to its state.
type staff struct {
	state
	// Users counts the users in Keystone, Assigned their roles, and Secrets the Secrets
	// with a user's password.
	Users, Assigned, Secrets int
}

// placementWalk is a walk of a control plane with a Placement.
type placementWalk struct {
	client.Client

	mu sync.Mutex
	// locked are the namespaces whose Placement had a user that Keystone rejected.
	locked map[string]error
}

func newPlacementWalk(t *testing.T) *placementWalk {
	t.Helper()
	return &placementWalk{Client: env.Client(t, controller.Scheme()), locked: map[string]error{}}
}

// login returns the Secret with the user that the Placement has.
func (w *placementWalk) login(ctx context.Context, namespace string) (*corev1.Secret, error) {
	p, secret := &placementv1alpha1.Placement{}, &corev1.Secret{}
	if err := w.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "controlplane-placement"}, p); err != nil {
		return nil, err
	}
	return secret, w.Get(ctx, client.ObjectKey{Namespace: namespace, Name: p.Spec.ServiceUserSecretRef.Name}, secret)
}

func accepts(namespace string, login *corev1.Secret) bool {
	return korc.Accepts(namespace, korc.Names(namespace, "User")[string(login.Data["username"])], string(login.Data["password"]))
}

// look records whether the Placement cannot log in.
func (w *placementWalk) look(ctx context.Context, namespace string) error {
	login, err := w.login(ctx, namespace)
	if err != nil || accepts(namespace, login) {
		return err
	}
	now, err := w.login(ctx, namespace)
	if err != nil || now.Name != login.Name {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked[namespace] = fmt.Errorf("keystone refused the user %s that the Placement had", login.Data["username"])
	return nil
}

func (w *placementWalk) observe(ctx context.Context, namespace string) (staff, error) {
	s, err := observe(ctx, w, namespace)
	if err != nil {
		return staff{}, err
	}
	var secrets corev1.SecretList
	if err := w.List(ctx, &secrets, client.InNamespace(namespace)); err != nil {
		return staff{}, err
	}
	seen := staff{state: s, Users: len(korc.Names(namespace, "User")), Assigned: korc.Assigned(namespace)}
	for _, secret := range secrets.Items {
		if len(secret.Data["password"]) > 0 && len(secret.Data["username"]) == len("placement-12345678") {
			seen.Secrets++
		}
	}
	return seen, nil
}

// ready returns nil if the Placement has the only user apart from the administrator.
func (w *placementWalk) ready(ctx context.Context, namespace string) error {
	if err := ready(ctx, w, namespace); err != nil {
		return err
	}
	var objects orcv1alpha1.UserList
	if err := w.List(ctx, &objects, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(objects.Items) != 2 || len(korc.Names(namespace, "User")) != 2 {
		return fmt.Errorf("there are %d users", len(objects.Items))
	}
	return nil
}

func compareStaff(undisturbed, _, final staff) string {
	if diff := cmp.Diff(undisturbed, final, cmp.AllowUnexported(staff{})); diff != "" {
		return "the final state (-undisturbed +got):\n" + diff
	}
	return ""
}

func TestAnOperatorKilledWhileCreatingPlacementMakesOneServiceUser(t *testing.T) {
	w := newPlacementWalk(t)
	crashwalk.Walk(t, crashwalk.Scenario[staff]{
		Config: asOperator, Long: true, Modes: []transport.Mode{transport.KillAfter},
		Writes: map[string]int{
			"apply placements.placement.openstack.c5c3.io": 1, "apply projects.openstack.k-orc.cloud": 1, "apply roles.openstack.k-orc.cloud": 1,
			"apply users.openstack.k-orc.cloud": 2, "create secrets": 4, "apply services.openstack.k-orc.cloud": 2,
			"apply endpoints.openstack.k-orc.cloud": 2, "apply externalsecrets.external-secrets.io": 4,
		},
		Prepare:  func(ctx context.Context) (string, error) { return prepare(ctx, w, withPlacement) },
		Operator: run, Settled: w.ready, Observe: w.observe, Compare: compareStaff,
	})
}

func TestAnOperatorKilledWhileThePasswordOfPlacementIsReplacedLeavesNoGap(t *testing.T) {
	w := newPlacementWalk(t)
	before := sync.Map{}
	request := func(namespace string) error {
		login, err := w.login(t.Context(), namespace)
		if err != nil {
			return err
		}
		before.Store(namespace, login.Name)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "controlplane-placement-service-user"}}
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, "now")
		return w.Update(t.Context(), secret)
	}
	crashwalk.Walk(t, crashwalk.Scenario[staff]{
		Config: asOperator,
		Writes: map[string]int{
			"update secrets": 1, "create secrets": 1, "apply users.openstack.k-orc.cloud": 1, "apply placements.placement.openstack.c5c3.io": 1,
			"patch users.openstack.k-orc.cloud": 1, "delete secrets": 1, "delete users.openstack.k-orc.cloud": 1, updateStatus: 1,
		},
		Prepare:  func(ctx context.Context) (string, error) { return whileRunning(ctx, w, request, withPlacement) },
		Operator: run,
		Settled: func(ctx context.Context, namespace string) error {
			if err := w.look(ctx, namespace); err != nil {
				return err
			}
			old, _ := before.Load(namespace)
			if login, err := w.login(ctx, namespace); err != nil || login.Name == old {
				return errors.Join(errors.New("the Placement has the old user"), err)
			}
			return w.ready(ctx, namespace)
		},
		Observe: w.observe,
		Compare: func(undisturbed, failed, final staff) string {
			if final.Users != 2 || final.Secrets != 1 {
				return fmt.Sprintf("%d users and %d Secrets are left", final.Users, final.Secrets)
			}
			return compareStaff(undisturbed, failed, final)
		},
	})
	for namespace, err := range w.locked {
		t.Errorf("%s: %v", namespace, err)
	}
}

func TestAnOperatorKilledDuringDeletionRemovesTheServiceUser(t *testing.T) {
	w := newPlacementWalk(t)
	remove := func(namespace string) error { return w.Delete(t.Context(), controlPlane(namespace)) }
	crashwalk.Walk(t, crashwalk.Scenario[staff]{
		Config: asOperator, Long: true,
		Writes: map[string]int{
			"delete users.openstack.k-orc.cloud": 2, "delete projects.openstack.k-orc.cloud": 1, "delete roles.openstack.k-orc.cloud": 1,
			"delete placements.placement.openstack.c5c3.io": 1, "delete keystones.keystone.openstack.c5c3.io": 1,
			"patch controlplanes.c5c3.io": 1, updateStatus: 1,
		},
		Prepare:  func(ctx context.Context) (string, error) { return whileRunning(ctx, w, remove, withPlacement) },
		Operator: func(ctx context.Context, cfg *rest.Config, namespace string) error { return run(ctx, cfg, namespace) },
		Settled: func(ctx context.Context, namespace string) error {
			err := w.Get(ctx, client.ObjectKeyFromObject(controlPlane(namespace)), controlPlane(namespace))
			if !apierrors.IsNotFound(err) {
				return errors.Join(errors.New("the ControlPlane is still there"), err)
			}
			return nil
		},
		Observe: func(ctx context.Context, namespace string) (staff, error) {
			s, err := w.observe(ctx, namespace)
			s.Conditions, s.Objects, s.Secrets = nil, 0, 0
			return s, err
		},
		Compare: func(undisturbed, failed, final staff) string {
			if undisturbed.Users != 1 || undisturbed.Assigned != 0 {
				return fmt.Sprintf("the undisturbed run left %d users with %d roles", undisturbed.Users-1, undisturbed.Assigned)
			}
			return compareStaff(undisturbed, failed, final)
		},
	})
}
