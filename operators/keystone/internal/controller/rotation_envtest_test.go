//go:build integration

package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

const (
	completedAt = "forge.c5c3.io/rotation-completed-at"
	keyHistory  = "forge.c5c3.io/key-history"
)

// keysIn returns the current Secret with the keys of a family.
func keysIn(t *testing.T, c client.Client, namespace, family string) *corev1.Secret {
	t.Helper()
	found := secret(namespace, testutil.Name+"-"+family+"-keys", nil)
	expect.Exists(t, c, found)
	return found
}

// rotated returns the keys after a rotation by keystone-manage.
func rotated(data map[string][]byte, maxActive int) (map[string][]byte, error) {
	fresh, err := fernet.Generate(1)
	if err != nil {
		return nil, err
	}
	primary, _ := fernet.PrimaryName(data)
	number, err := strconv.Atoi(primary)
	if err != nil {
		return nil, err
	}
	next := maps.Clone(data)
	next[strconv.Itoa(number+1)], next["0"] = data["0"], fresh["0"]
	for oldest := 1; len(next) > maxActive; oldest++ {
		delete(next, strconv.Itoa(oldest))
	}
	return next, nil
}

// stageKeys sends the request of the rotation Job.
func stageKeys(ctx context.Context, c client.Client, namespace, family string, data map[string][]byte, at string) error {
	now := secret(namespace, testutil.Name+"-"+family+"-keys-rotation", nil)
	if err := c.Get(ctx, client.ObjectKeyFromObject(now), now); err != nil {
		return err
	}
	staged := map[string]any{}
	for name := range now.Data {
		staged[name] = nil
	}
	for name, key := range data {
		staged[name] = key
	}
	metadata := map[string]any{"uid": now.UID, "resourceVersion": now.ResourceVersion}
	if at != "" {
		metadata["annotations"] = map[string]string{completedAt: at}
	}
	body := map[string]any{"metadata": metadata, "data": staged}
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.Patch(ctx, secret(namespace, testutil.Name+"-"+family+"-keys-rotation", nil),
		client.RawPatch(types.StrategicMergePatchType, encoded))
}

const someTime = "2026-05-04T03:02:01Z"

// rotateOnce stages a rotation of the keys in use.
func rotateOnce(t *testing.T, c client.Client, namespace, family string, maxActive int, at string) map[string][]byte {
	t.Helper()
	next, err := rotated(keysIn(t, c, namespace, family).Data, maxActive)
	if err == nil {
		err = stageKeys(t.Context(), c, namespace, family, next, at)
	}
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// expectKeys waits until exactly these keys are in use.
func expectKeys(t *testing.T, c client.Client, namespace, family string, want map[string][]byte) *corev1.Secret {
	t.Helper()
	found := secret(namespace, testutil.Name+"-"+family+"-keys", nil)
	expect.Object(t, c, found, func() error {
		if !cmp.Equal(want, found.Data) {
			return fmt.Errorf("the keys are %v", slices.Sorted(maps.Keys(found.Data)))
		}
		return nil
	})
	return found
}

// expectEmptyStaging waits for a staging Secret without content.
func expectEmptyStaging(t *testing.T, c client.Client, namespace, family string) *corev1.Secret {
	t.Helper()
	found := secret(namespace, testutil.Name+"-"+family+"-keys-rotation", nil)
	expect.Object(t, c, found, func() error {
		if len(found.Data) > 0 || found.Annotations[completedAt] != "" {
			return fmt.Errorf("it holds %v, completed at %q", slices.Sorted(maps.Keys(found.Data)), found.Annotations[completedAt])
		}
		return nil
	})
	return found
}

// eventCount returns how often events with the reason have occurred.
func eventCount(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, reason string) (count int32) {
	t.Helper()
	for _, event := range expect.Events(t, c, k) {
		if event.Reason == reason {
			count += event.Count
		}
	}
	return count
}

// expectOneEvent waits for an event and for the passes after it.
func expectOneEvent(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator, reason string) {
	t.Helper()
	expectOnce(t, c, k, operator, reason)
	settle(t, c, k, operator)
	expectOnce(t, c, k, operator, reason)
}

// backdate shifts everything in the history back in time.
func backdate(t *testing.T, c client.Client, namespace, family string, by time.Duration) {
	t.Helper()
	objects.Change(t, c, keysIn(t, c, namespace, family), func(s *corev1.Secret) {
		history := fernet.ParseHistory(s.Annotations[keyHistory])
		for id, term := range history {
			if !term.Since.IsZero() {
				term.Since = term.Since.Add(-by)
			}
			if !term.Until.IsZero() {
				term.Until = term.Until.Add(-by)
			}
			history[id] = term
		}
		s.Annotations[keyHistory] = history.String()
	})
}

// rotatedConditions report for a moment what the events report.
var rotatedConditions = map[string]string{"fernet": "FernetKeysReady", "credential": "CredentialKeysReady"}

var rotationEvents = map[string]string{"fernet": "FernetKeysRotated", "credential": "CredentialKeysRotated"}

func TestAStagedRotationIsPromotedOnce(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	for family, event := range rotationEvents {
		t.Run(family, func(t *testing.T) {
			settle(t, c, k, operator)
			deployment := deploymentOf(k)
			expect.Exists(t, c, deployment)
			staging := expectEmptyStaging(t, c, k.Namespace, family)
			if staging.Labels["forge.c5c3.io/rotation-target"] != family+"-keys" {
				t.Errorf("labels of the staging Secret: %v", staging.Labels)
			}

			changes := expect.Follow(t, env.Config, c, k)
			next := rotateOnce(t, c, k.Namespace, family, 3, someTime)
			changes.Condition(t, rotatedConditions[family], metav1.ConditionTrue, event)
			production := expectKeys(t, c, k.Namespace, family, next)
			if production.Annotations[completedAt] != someTime {
				t.Errorf("the keys say that they were rotated at %q", production.Annotations[completedAt])
			}
			expect.Object(t, c, staging, func() error { return staged(staging) })
			expectOneEvent(t, c, k, operator, event)
			ready(t, c, k)
			after := deploymentOf(k)
			expect.Exists(t, c, after)
			if after.Generation != deployment.Generation {
				t.Error("the pods are replaced")
			}
		})
	}
}

// staged returns nil for a recreated staging Secret.
func staged(s *corev1.Secret) error {
	if len(s.Data) > 0 {
		return errors.New("the staging Secret still holds keys")
	}
	return nil
}

func TestInvalidStagedKeysAreRefusedAndCleared(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	for _, family := range []string{"fernet", "credential"} {
		before := keysIn(t, c, k.Namespace, family)
		fresh, err := fernet.Generate(3)
		if err != nil {
			t.Fatal(err)
		}
		for what, data := range map[string]map[string][]byte{
			"nothing":         {},
			"too few keys":    {"0": fresh["0"], "3": before.Data["0"]},
			"broken keys":     {"0": []byte("not a key"), "2": before.Data["2"], "3": before.Data["0"]},
			"foreign keys":    fresh,
			"the keys in use": before.Data,
			"invalid names":   {"0": fresh["0"], "2": before.Data["2"], "3": before.Data["0"], "three": fresh["1"]},
		} {
			t.Run(family+"/"+what, func(t *testing.T) {
				if err := stageKeys(t.Context(), c, k.Namespace, family, data, someTime); err != nil {
					t.Fatal(err)
				}
				expectEmptyStaging(t, c, k.Namespace, family)
				settle(t, c, k, operator)
				if diff := cmp.Diff(before.Data, keysIn(t, c, k.Namespace, family).Data); diff != "" {
					t.Error("the keys in use have changed")
				}
			})
		}
	}
	expect.Eventually(t, "an event RotationRejected", func(context.Context) error {
		if eventCount(t, c, k, "RotationRejected") == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	for _, event := range expect.Events(t, c, k) {
		for _, key := range keysIn(t, c, k.Namespace, "fernet").Data {
			if strings.Contains(event.Message, string(key)) {
				t.Errorf("the event %s shows a key", event.Reason)
			}
		}
	}
}

func TestAnUnfinishedRotationIsLeftAlone(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	before := keysIn(t, c, k.Namespace, "fernet")
	next := rotateOnce(t, c, k.Namespace, "fernet", 3, "")
	settle(t, c, k, operator)
	staging := secret(k.Namespace, k.Name+"-fernet-keys-rotation", nil)
	expect.Exists(t, c, staging)
	if !cmp.Equal(before.Data, keysIn(t, c, k.Namespace, "fernet").Data) || !cmp.Equal(next, staging.Data) {
		t.Error("a rotation without its time was touched")
	}
}

func TestARotationWithAnInvalidTimeIsReportedOnceAndKept(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	before := keysIn(t, c, k.Namespace, "fernet")
	next := rotateOnce(t, c, k.Namespace, "fernet", 3, "yesterday")
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable", "RFC 3339")
	for range 3 {
		pass(t, c, k, operator)
	}
	expectOneEvent(t, c, k, operator, "RotationAnnotationInvalid")
	staging := secret(k.Namespace, k.Name+"-fernet-keys-rotation", nil)
	expect.Exists(t, c, staging)
	if !cmp.Equal(before.Data, keysIn(t, c, k.Namespace, "fernet").Data) || !cmp.Equal(next, staging.Data) {
		t.Error("the keys in use or the staged ones have changed")
	}
	// The remedy in the message.
	objects.Delete(t, c, staging)
	expectEmptyStaging(t, c, k.Namespace, "fernet")
	rotateOnce(t, c, k.Namespace, "fernet", 3, someTime)
	expectOneEvent(t, c, k, operator, "FernetKeysRotated")
}

func TestTheCronJobsFollowTheSpec(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.Fernet.Suspend, k.Spec.Fernet.RotationSchedule = true, "5 4 * * *"
		k.Spec.CredentialKeys.Suspend = true
	})
	for _, name := range []string{"fernet", "credential"} {
		cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name + "-" + name + "-rotate"}}
		expect.Object(t, c, cronJob, func() error {
			if !ptr.Deref(cronJob.Spec.Suspend, false) || (name == "fernet" && cronJob.Spec.Schedule != "5 4 * * *") {
				return fmt.Errorf("suspend %v, schedule %q", cronJob.Spec.Suspend, cronJob.Spec.Schedule)
			}
			return nil
		})
	}
	settle(t, c, k, operator)
}

func TestRotationReachesARaisedOrLoweredNumberOfActiveKeys(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	setMaxActive := func(n int32) {
		objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Fernet.MaxActiveKeys = n })
		ready(t, c, k)
	}
	setMaxActive(5)
	for _, at := range []string{"2026-05-04T01:00:00Z", "2026-05-04T02:00:00Z"} {
		expectKeys(t, c, k.Namespace, "fernet", rotateOnce(t, c, k.Namespace, "fernet", 5, at))
		expectEmptyStaging(t, c, k.Namespace, "fernet")
		backdate(t, c, k.Namespace, "fernet", propagation)
	}
	before := keysIn(t, c, k.Namespace, "fernet")
	if len(before.Data) != 5 {
		t.Fatalf("%d keys after two rotations, expected 5", len(before.Data))
	}
	setMaxActive(3)
	// The two keys that it removes were in use; the additional one never was.
	next := rotateOnce(t, c, k.Namespace, "fernet", 3, "2026-05-04T03:00:00Z")
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable", "held until")
	settle(t, c, k, operator)
	expectKeys(t, c, k.Namespace, "fernet", before.Data)
	backdate(t, c, k.Namespace, "fernet", 50*time.Hour)
	expectKeys(t, c, k.Namespace, "fernet", next)
}

func TestAForeignStagingSecretIsNotUsed(t *testing.T) {
	t.Parallel()
	foreign := func(namespace string) []client.Object {
		mine := secret(namespace, testutil.Name+"-fernet-keys-rotation", map[string]string{"mine": "yes"})
		mine.Annotations = map[string]string{completedAt: someTime}
		return []client.Object{mine}
	}
	c, namespace := newNamespace(t, testutil.Secrets, foreign)
	testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "ReconcileError", "keystone-fernet-keys-rotation", "rename or delete")
	mine := secret(namespace, testutil.Name+"-fernet-keys-rotation", nil)
	expect.Exists(t, c, mine)
	if string(mine.Data["mine"]) != "yes" || mine.Annotations[completedAt] != someTime || len(mine.OwnerReferences) > 0 {
		t.Errorf("it was changed: %+v", mine.ObjectMeta)
	}
	objects.Delete(t, c, mine)
	ready(t, c, k)
	expectEmptyStaging(t, c, namespace, "fernet")
}
