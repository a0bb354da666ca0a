//go:build integration

package controller_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// acceptance matches the part of a rejection that explains how to accept the keys anyway.
var acceptance = regexp.MustCompile(`keystone\.openstack\.c5c3\.io/accept-staged-keys=([0-9a-f]{12})`)

// refusedKeys stages keys that are not a successor and returns the value with which they
// would be accepted.
func refusedKeys(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, family string, data map[string][]byte, but ...string) string {
	t.Helper()
	if err := stageKeys(t.Context(), c, k.Namespace, family, data, someTime); err != nil {
		t.Fatal(err)
	}
	expectEmptyStaging(t, c, k.Namespace, family)
	var id string
	expect.Eventually(t, "an event that says how to accept the keys", func(context.Context) error {
		for _, event := range expect.Events(t, c, k) {
			found := acceptance.FindStringSubmatch(event.Message)
			if event.Reason == "RotationRejected" && found != nil && (len(but) == 0 || found[1] != but[0]) {
				id = found[1]
				return nil
			}
		}
		return errors.New("there is none")
	})
	return id
}

func replacement(t *testing.T) map[string][]byte {
	t.Helper()
	data, err := fernet.Generate(3)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An emergency: the keys in use are compromised.
func TestUnrelatedStagedKeysAreAcceptedOnceOnRequest(t *testing.T) {
	for family, event := range rotationEvents {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			c, k, operator := converged(t, modes[0])
			before, fresh := keysIn(t, c, k.Namespace, family).Data, replacement(t)
			id := refusedKeys(t, c, k, family, fresh)
			expectKeys(t, c, k.Namespace, family, before)
			objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
				metav1.SetMetaDataAnnotation(&k.ObjectMeta, keystonev1alpha1.AnnotationAcceptStagedKeys, id)
			})
			operator.Sees(t, k)
			settle(t, c, k, operator)
			expectKeys(t, c, k.Namespace, family, before)

			if err := stageKeys(t.Context(), c, k.Namespace, family, fresh, someTime); err != nil {
				t.Fatal(err)
			}
			expectKeys(t, c, k.Namespace, family, fresh)
			expectEmptyStaging(t, c, k.Namespace, family)
			expectOneEvent(t, c, k, operator, event)

			// It accepts neither other keys nor the earlier ones.
			other := refusedKeys(t, c, k, family, replacement(t), id)
			refusedKeys(t, c, k, family, before, other)
			expectKeys(t, c, k.Namespace, family, fresh)
			ready(t, c, k)
		})
	}
}

func TestUnusableStagedKeysAreNeverAccepted(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	before, fresh := keysIn(t, c, k.Namespace, "fernet").Data, replacement(t)
	for what, data := range map[string]map[string][]byte{
		"no staged key": {"1": fresh["0"], "2": fresh["1"], "3": fresh["2"]},
		"invalid names": {"0": fresh["0"], "1": fresh["1"], "two": fresh["2"]},
		"a broken key":  {"0": fresh["0"], "1": fresh["1"], "2": []byte("not a key")},
	} {
		objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
			metav1.SetMetaDataAnnotation(&k.ObjectMeta, keystonev1alpha1.AnnotationAcceptStagedKeys, fernet.ReplacementID(before, data))
		})
		if err := stageKeys(t.Context(), c, k.Namespace, "fernet", data, someTime); err != nil {
			t.Fatal(err)
		}
		expectEmptyStaging(t, c, k.Namespace, "fernet")
		expectKeys(t, c, k.Namespace, "fernet", before)
		if t.Failed() {
			t.Fatalf("with %s", what)
		}
	}
	for _, event := range expect.Events(t, c, k) {
		if acceptance.MatchString(event.Message) {
			t.Errorf("an event offers to accept keys that cannot be used: %s", event.Message)
		}
	}
}
