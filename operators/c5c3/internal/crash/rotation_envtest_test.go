//go:build integration

package crash

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
)

// rotationWalk is a walk through one rotation with a crashing operator.
type rotationWalk struct {
	client.Client
	mode c5c3v1alpha1.RotationMode
	spec c5c3v1alpha1.CredentialRotationSpec
	// late is how far the clock of the crashing operators is ahead.
	late time.Duration
	// long leaves the walk to runs without -short.
	long bool
	// done reports whether the rotation has recorded its request.
	done func(*c5c3v1alpha1.CredentialRotation) bool

	mu sync.Mutex
	// locked are the namespaces whose users had a credential that Keystone rejected.
	locked map[string]error
}

func (w *rotationWalk) prepare(ctx context.Context) (string, error) {
	rotate := func(namespace string) error {
		spec := w.spec.DeepCopy()
		spec.Target = c5c3v1alpha1.RotationTargetAdminApplicationCredential
		return w.Create(ctx, &c5c3v1alpha1.CredentialRotation{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "rotation"}, Spec: *spec,
		})
	}
	return whileRunning(ctx, w, rotate, func(cp *c5c3v1alpha1.ControlPlane) {
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode = w.mode
	})
}

// look records whether the users cannot log in. A credential that is rejected right after
// it was replaced is no longer theirs.
func (w *rotationWalk) look(ctx context.Context, namespace string) error {
	id, secret, err := testutil.CredentialInUse(ctx, w, namespace)
	if err != nil || korc.Accepts(namespace, id, secret) {
		return err
	}
	now, _, err := testutil.CredentialInUse(ctx, w, namespace)
	if err != nil || now != id {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked[namespace] = fmt.Errorf("keystone refused the credential %q that the users had", id)
	return nil
}

func (w *rotationWalk) settled(ctx context.Context, namespace string) error {
	if err := w.look(ctx, namespace); err != nil {
		return err
	}
	rotation := &c5c3v1alpha1.CredentialRotation{}
	if err := w.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "rotation"}, rotation); err != nil {
		return err
	}
	if !w.done(rotation) {
		return fmt.Errorf("the rotation is not done: %+v", rotation.Status)
	}
	credential := &orcv1alpha1.ApplicationCredential{}
	if err := w.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "controlplane-admin-app-credential"}, credential); err != nil {
		return err
	}
	if credential.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash] == "" || korc.Made(namespace, "ApplicationCredential") < 2 {
		return errors.New("the credential is not replaced yet")
	}
	return ready(ctx, w, namespace)
}

func (w *rotationWalk) walk(t *testing.T) {
	t.Helper()
	w.Client, w.locked = env.Client(t, controller.Scheme()), map[string]error{}
	crashwalk.Walk(t, crashwalk.Scenario[state]{
		Config: asOperator, Long: w.long, Prepare: w.prepare, Settled: w.settled,
		Writes: map[string]int{
			"patch applicationcredentials.openstack.k-orc.cloud": 1, applyCredential: 2, deleteCredential: 2,
			"update credentialrotations.c5c3.io/status": 1, "update secrets": 2, "apply pushsecrets.external-secrets.io": 1,
			"apply externalsecrets.external-secrets.io": 1, updateStatus: 1,
		},
		Operator: func(ctx context.Context, cfg *rest.Config, namespace string) error {
			return runLate(ctx, cfg, namespace, w.late)
		},
		Observe: func(ctx context.Context, namespace string) (state, error) {
			if err := w.look(ctx, namespace); err != nil {
				return state{}, err
			}
			return observe(ctx, w, namespace)
		},
		Compare: func(undisturbed, failed, final state) string {
			if final.Made != 2 {
				return fmt.Sprintf("%d credentials were made, expected the first one and one that was asked for", final.Made)
			}
			return compare(undisturbed, failed, final)
		},
	})
	for namespace, err := range w.locked {
		t.Errorf("%s: %v", namespace, err)
	}
}

func TestAnOperatorKilledDuringAReMintMakesOneCredentialAndLeavesNoGap(t *testing.T) {
	(&rotationWalk{
		mode: c5c3v1alpha1.RotationManual, spec: c5c3v1alpha1.CredentialRotationSpec{ReMint: true},
		done: func(r *c5c3v1alpha1.CredentialRotation) bool {
			return r.Status.LastTriggeredGeneration == r.Generation && meta.IsStatusConditionTrue(r.Status.Conditions, "Ready")
		},
	}).walk(t)
}

// The clock of the crashing operators is after the due time of the first credential and
// before that of the second.
func TestAnOperatorKilledDuringAScheduledRotationMakesOneCredentialAndLeavesNoGap(t *testing.T) {
	interval, late := int32(1), 30*time.Hour
	(&rotationWalk{
		mode: c5c3v1alpha1.RotationScheduled, spec: c5c3v1alpha1.CredentialRotationSpec{IntervalDays: &interval}, late: late, long: true,
		done: func(r *c5c3v1alpha1.CredentialRotation) bool {
			next := r.Status.NextRotation
			return next != nil && next.After(time.Now().Add(late)) && meta.IsStatusConditionTrue(r.Status.Conditions, "Ready")
		},
	}).walk(t)
}
