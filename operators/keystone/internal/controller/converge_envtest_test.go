//go:build integration

package controller_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// ready waits until the Keystone is ready and stores its state in k.
func ready(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
	t.Helper()
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
}

// backedUp waits until the operator has observed that the store has the keys.
func backedUp(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
	t.Helper()
	expect.Condition(t, c, k, vocabulary.ConditionBackupHealthy, metav1.ConditionTrue, vocabulary.ReasonKeysBackedUp)
}

func children(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) []testutil.Child {
	t.Helper()
	found, err := testutil.Children(t.Context(), c, k.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAChildThatTheCacheDoesNotShowYetIsWrittenOnce(t *testing.T) {
	c, namespace := newNamespace(t)
	holds := &transport.Holds{}
	operator := testutil.Start(t, holds.Config(asOperator), namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	// The caches are filled by a watch, too.
	expect.Condition(t, c, k, vocabulary.ConditionReady, metav1.ConditionFalse, vocabulary.ReasonNotAllReady)
	release := holds.Hold(func(watch *http.Request) bool { return transport.Parse(watch).Resource == "pushsecrets" })
	t.Cleanup(release)
	objects.Create(t, c, testutil.Secrets(namespace)...)
	ready(t, c, k)
	release()
	backedUp(t, c, k)
	operator.Stop()
	copies := operator.Requests.All().Filter(func(r transport.Request) bool { return r.Resource == "pushsecrets" })
	stored := copies.Filter(transport.Request.Stored)
	if len(stored) != 2 || stored[0].Name == stored[1].Name {
		t.Errorf("stored were, expected one write for each kind of keys:\n%s", stored)
	}
	if len(copies.Writes()) == len(stored) {
		t.Errorf("no pass took a PushSecret for a new one:\n%s", copies)
	}
	reads := copies.Needed().Filter(func(r transport.Request) bool { return r.Verb == "get" })
	if len(reads) > 0 {
		t.Errorf("read without need:\n%s", reads)
	}
}
