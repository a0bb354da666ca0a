//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// prepareStaged creates a namespace with a ready Keystone for which a new password was
// staged while no operator was running.
func prepareStaged(ctx context.Context, c client.Client) (namespace string, err error) {
	ns := &corev1.Namespace{}
	ns.GenerateName = "password-"
	if err := c.Create(ctx, ns); err != nil {
		return "", err
	}
	namespace = ns.Name
	for _, obj := range append(throughStore(namespace, passwordPath(namespace)), rotatingKeystone(namespace)) {
		if err := c.Create(ctx, obj); err != nil {
			return "", err
		}
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- runQuietly(running, asOperator, namespace) }()
	err = expect.Until(ctx, func(ctx context.Context) error { return readyNow(ctx, c, namespace) })
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return "", err
	}
	staging := secret(namespace, "keystone-admin-password-rotation", nil)
	if err := c.Get(ctx, client.ObjectKeyFromObject(staging), staging); err != nil {
		return "", err
	}
	setStaged(staging, firstPassword, time.Now())
	return namespace, c.Update(ctx, staging)
}

// rotatedNow returns nil if the staged password has arrived everywhere and the staging
// Secret is empty again.
func rotatedNow(ctx context.Context, c client.Client, namespace string) error {
	if err := readyNow(ctx, c, namespace); err != nil {
		return err
	}
	k := rotatingKeystone(namespace)
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return err
	}
	condition := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionPasswordRotationReady)
	if condition.Reason != keystonev1alpha1.ReasonPasswordRotationConfigured {
		return errors.New(condition.Message)
	}
	if got := len(jobs.Runs(namespace, "keystone-bootstrap")); got != 2 {
		return fmt.Errorf("bootstrap ran %d times", got)
	}
	return errors.Join(
		holds(ctx, c, namespace, testutil.AdminSecret, firstPassword),
		holds(ctx, c, namespace, "keystone-admin-password-next", firstPassword),
		holds(ctx, c, namespace, "keystone-admin-password-rotation", ""))
}

func TestARotationOfThePasswordSurvivesAFailureAtAnyWrite(t *testing.T) {
	t.Parallel()
	c := env.Client(t, controller.Controller.Scheme())
	crashwalk.Walk(t, crashwalk.Scenario[string]{
		Config: asOperator, Long: true,
		Writes: map[string]int{
			createSecret: 2, "update secrets": 1, "delete secrets": 1, pushSecret: 1, "patch externalsecrets.external-secrets.io": 1,
			deleteJob: 1, createJob: 1, updateStatus: 1,
		},
		Modes:    []transport.Mode{transport.KillAfter, transport.FailBefore, transport.FailAfter},
		Prepare:  func(ctx context.Context) (string, error) { return prepareStaged(ctx, c) },
		Operator: runQuietly,
		Settled:  func(ctx context.Context, namespace string) error { return rotatedNow(ctx, c, namespace) },
		Observe: func(_ context.Context, namespace string) (string, error) {
			return secrets.Stored(passwordPath(namespace))["password"], nil
		},
		Compare: func(undisturbed, _, final string) string {
			if final != undisturbed {
				return "the store does not have the new password"
			}
			return ""
		},
	})
}
