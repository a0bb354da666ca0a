//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// touch triggers a pass over one of a controller's resources by changing an object that
// it reads. It returns the requests of that pass in the namespace, except events: they
// are written asynchronously, so those of an earlier pass may come late.
func touch(t *testing.T, c client.Client, controller string, resource, read client.Object) transport.Requests {
	t.Helper()
	before, count := requests.Snapshot(), log.passesOver(controller, resource)
	objects.Change(t, c, read, func(obj client.Object) {
		annotations := maps.Clone(obj.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["example.com/touched"] = strconv.Itoa(count)
		obj.SetAnnotations(annotations)
	})
	expect.Eventually(t, "a pass after a change of "+read.GetName(), func(context.Context) error {
		if log.passesOver(controller, resource) == count {
			return errors.New("the operator has not looked")
		}
		return nil
	})
	return requests.Since(before).Filter(func(r transport.Request) bool {
		return r.Namespace == resource.GetNamespace() && r.Resource != "" && !r.Event()
	})
}

// expectQuiet waits until several consecutive passes over a resource, each after a change
// of an object that it reads, make only one request: the read of a changed Secret, whose
// content may have changed, too. Earlier changes may reach the operator in between.
func expectQuiet(t *testing.T, c client.Client, controller string, resource, read client.Object) {
	t.Helper()
	expect.Eventually(t, "passes without a request", func(context.Context) error {
		for range 4 {
			made := touch(t, c, controller, resource, read).Filter(func(r transport.Request) bool {
				return r.Verb != "get" || r.Resource != "secrets" || r.Name != read.GetName()
			})
			if len(made) > 0 {
				return fmt.Errorf("a pass took %d requests:\n%s", len(made), made)
			}
		}
		return nil
	})
}

func TestAPassOverAConvergedControlPlaneMakesNoRequestOfItsOwn(t *testing.T) {
	t.Parallel()
	w := converged(t)
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestAPassOverASettledCredentialRotationMakesNoRequestOfItsOwn(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{})
	objects.Create(t, w, rotation)
	w.expectRotation(t, rotation, metav1.ConditionTrue, "NoRotationNeeded")
	expectQuiet(t, w, "credentialrotation", rotation, rotation)
	expectQuiet(t, w, "controlplane", w.cp, w.cp)
}

func TestAPassOverACompleteSecretAggregateMakesNoRequestOfItsOwn(t *testing.T) {
	t.Parallel()
	c := complete(t)
	c.world.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", "has not processed")
	expectQuiet(t, c, "secretaggregate", c.aggregate, &corev1.Secret{ObjectMeta: c.meta("keystone-db")})
	expect.Eventually(t, "one event for all these passes", func(context.Context) error {
		events := expect.Events(t, c, c.aggregate)
		if !slices.ContainsFunc(events, func(e expect.Event) bool { return e.Reason == "SecretsAggregated" && e.Count == 1 }) {
			return fmt.Errorf("there are %+v", events)
		}
		return nil
	})
}
