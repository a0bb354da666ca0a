//go:build integration

package controller_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonsecrets "github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const annotationConnectionHash = "keystone.c5c3.io/db-connection-hash"

func TestConnectionHashesAreKeyed(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	keys, connection := secret(k.Namespace, k.Name+"-credential-keys", nil), secret(k.Namespace, k.Name+"-db-connection", nil)
	before := deploymentOf(k)
	expect.Exists(t, c, keys)
	expect.Exists(t, c, connection)
	expect.Exists(t, c, before)
	want := commonsecrets.KeyedHash(keys.UID, string(connection.Data["connection"]))
	if got := before.Spec.Template.Annotations[annotationConnectionHash]; got != want {
		t.Errorf("the pods have the hash %q, expected %q", got, want)
	}
	for _, secret := range []string{string(connection.Data["connection"]), "database-password"} {
		sum := sha256.Sum256([]byte(secret))
		if strings.Contains(workloads(t, c, k), hex.EncodeToString(sum[:])) {
			t.Error("a plain hash of the database's password or URL is stored")
		}
	}

	lost := connection.UID
	objects.Delete(t, c, connection.DeepCopy())
	expect.Object(t, c, connection, func() error {
		if connection.UID == lost {
			return errors.New("it is not lost yet")
		}
		return nil
	})
	settle(t, c, k, operator)
	after := deploymentOf(k)
	expect.Exists(t, c, after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the pods were replaced though they have the same connection (-before +after):\n%s", diff)
	}
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 1})
}

// workloads returns what users without access to Secrets can see.
func workloads(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) string {
	t.Helper()
	var all strings.Builder
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &batchv1.JobList{}, &batchv1.CronJobList{}, &corev1.ConfigMapList{}} {
		if err := c.List(t.Context(), list, client.InNamespace(k.Namespace)); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&all).Encode(list); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
