//go:build integration

package controller_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// rotationOutcome is what a promotion is judged by.
type rotationOutcome struct {
	// Names are those of the keys in use, Staged those that are still staged.
	Names, Staged []string
	CompletedAt   string
	Conditions    map[string]string
	// Primary is a digest of the primary key.
	Primary string
	// Events is how often the rotation was announced.
	Events int32
}

// prepareStagedKeys creates a namespace with a Keystone that was ready, and stages a
// rotation while no operator is running.
func prepareStagedKeys(ctx context.Context, c client.Client) (namespace string, err error) {
	namespace, err = prepare(ctx, c, modes[0])
	if err != nil {
		return "", err
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
	current := secret(namespace, testutil.Name+"-fernet-keys", nil)
	if err := c.Get(ctx, client.ObjectKeyFromObject(current), current); err != nil {
		return "", err
	}
	next, err := rotated(current.Data, 3)
	if err != nil {
		return "", err
	}
	return namespace, stageKeys(ctx, c, namespace, "fernet", next, someTime)
}

func observeRotation(ctx context.Context, c client.Client, namespace string) (rotationOutcome, error) {
	o := rotationOutcome{Conditions: map[string]string{}}
	k := testutil.Brownfield(namespace, testutil.Name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return o, err
	}
	for _, condition := range k.Status.Conditions {
		o.Conditions[condition.Type] = string(condition.Status) + "/" + condition.Reason
	}
	// The reason of a rotation only lasts until the next pass, so whether it is seen
	// depends on timing.
	if o.Conditions["FernetKeysReady"] == "True/FernetKeysRotated" {
		o.Conditions["FernetKeysReady"] = "True/FernetKeysAvailable"
	}
	for name, into := range map[string]*[]string{"fernet-keys": &o.Names, "fernet-keys-rotation": &o.Staged} {
		found := secret(namespace, testutil.Name+"-"+name, nil)
		if err := c.Get(ctx, client.ObjectKeyFromObject(found), found); client.IgnoreNotFound(err) != nil {
			return o, err
		}
		for _, number := range []string{"0", "1", "2", "3", "4"} {
			if _, ok := found.Data[number]; ok {
				*into = append(*into, number)
			}
		}
		if name == "fernet-keys" {
			o.CompletedAt = found.Annotations[completedAt]
			if primary := found.Data["3"]; len(primary) > 0 {
				o.Primary = fmt.Sprintf("%x", sha256.Sum256(primary))
			}
		}
	}
	var events corev1.EventList
	if err := c.List(ctx, &events, client.InNamespace(namespace)); err != nil {
		return o, err
	}
	for i := range events.Items {
		if events.Items[i].Reason == "FernetKeysRotated" {
			o.Events += max(events.Items[i].Count, 1)
		}
	}
	return o, nil
}

func TestAnInterruptedKeyPromotionHappensOnce(t *testing.T) {
	t.Parallel()
	c := env.Client(t, controller.Controller.Scheme())
	crashwalk.Walk(t, crashwalk.Scenario[rotationOutcome]{
		Config:   asOperator,
		Writes:   map[string]int{"update secrets": 1, "delete secrets": 1, createSecret: 1, pushSecret: 1, updateStatus: 1},
		Modes:    []transport.Mode{transport.KillAfter, transport.FailBefore, transport.FailAfter},
		Prepare:  func(ctx context.Context) (string, error) { return prepareStagedKeys(ctx, c) },
		Operator: runQuietly,
		Settled: func(ctx context.Context, namespace string) error {
			o, err := observeRotation(ctx, c, namespace)
			if err != nil {
				return err
			}
			if o.CompletedAt != someTime || len(o.Staged) > 0 || o.Conditions["FernetKeysReady"] != "True/FernetKeysAvailable" {
				return fmt.Errorf("the rotation is not over: %+v", o)
			}
			return readyNow(ctx, c, namespace)
		},
		Observe: func(ctx context.Context, namespace string) (rotationOutcome, error) {
			return observeRotation(ctx, c, namespace)
		},
		Compare: func(undisturbed, failed, final rotationOutcome) string {
			if failed.Primary != "" && failed.Primary != final.Primary {
				return "the primary key changed after the failure"
			}
			if final.Events > 1 {
				return fmt.Sprintf("the rotation was announced %d times", final.Events)
			}
			undisturbed.Primary, final.Primary = "", ""
			undisturbed.Events, final.Events = 0, 0
			return cmp.Diff(undisturbed, final)
		},
	})
}
