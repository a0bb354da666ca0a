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
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// passes is how often the controller has looked at one of its resources.
func passes(t *testing.T, controller string) int {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_time_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == controller {
					sum += int(metric.GetHistogram().GetSampleCount())
				}
			}
		}
	}
	return sum
}

// touch makes a controller look once more, by a change of an object that it reads,
// and returns the requests that this took, but for events, which are written
// beside the passes: those of an earlier one may come late.
func touch(t *testing.T, c client.Client, controller string, read client.Object) transport.Requests {
	t.Helper()
	before, count := requests.Snapshot(), passes(t, controller)
	objects.Change(t, c, read, func(obj client.Object) {
		annotations := maps.Clone(obj.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["example.com/touched"] = strconv.Itoa(count)
		obj.SetAnnotations(annotations)
	})
	expect.Eventually(t, "a pass after a change of "+read.GetName(), func(context.Context) error {
		if passes(t, controller) == count {
			return errors.New("the operator has not looked")
		}
		return nil
	})
	return requests.Since(before).Filter(func(r transport.Request) bool { return r.Resource != "" && !r.Event() })
}

// expectQuiet waits for a pass after a change of an object that makes no request
// but the one that a changed Secret itself asks for, as its content may have
// changed, too, and fails when one of the next passes makes another.
func expectQuiet(t *testing.T, c client.Client, controller string, read client.Object) {
	t.Helper()
	quiet := func(context.Context) error {
		made := touch(t, c, controller, read).Filter(func(r transport.Request) bool {
			return r.Verb != "get" || r.Resource != "secrets" || r.Namespace != read.GetNamespace() || r.Name != read.GetName()
		})
		if len(made) > 0 {
			return fmt.Errorf("a pass took %d requests:\n%s", len(made), made)
		}
		return nil
	}
	expect.Eventually(t, "a pass without a request", quiet)
	for range 3 {
		if err := quiet(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAPassOverAConvergedControlPlaneMakesNoRequestOfItsOwn(t *testing.T) {
	w := converged(t)
	expectQuiet(t, w, "controlplane", &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestAPassOverASettledCredentialRotationMakesNoRequestOfItsOwn(t *testing.T) {
	w := converged(t, manual)
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{})
	objects.Create(t, w, rotation)
	w.expectRotation(t, rotation, metav1.ConditionTrue, "NoRotationNeeded")
	expectQuiet(t, w, "credentialrotation", rotation)
	expectQuiet(t, w, "controlplane", w.cp)
}

func TestAPassOverACompleteSecretAggregateMakesNoRequestOfItsOwn(t *testing.T) {
	c := complete(t)
	c.world.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", "has not looked at")
	expectQuiet(t, c, "secretaggregate", &corev1.Secret{ObjectMeta: c.meta("keystone-db")})
	expect.Eventually(t, "one event for all these passes", func(context.Context) error {
		events := expect.Events(t, c, c.aggregate)
		if !slices.ContainsFunc(events, func(e expect.Event) bool { return e.Reason == "SecretsAggregated" && e.Count == 1 }) {
			return fmt.Errorf("there are %+v", events)
		}
		return nil
	})
}
