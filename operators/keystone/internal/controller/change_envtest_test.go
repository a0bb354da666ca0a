//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// deploymentOf returns the current Deployment of a Keystone.
func deploymentOf(k *keystonev1alpha1.Keystone) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
}

func TestAChangedDatabasePasswordReachesThePods(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	before := deploymentOf(k)
	expect.Exists(t, c, before)
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k}
	setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "changed"})

	connection := secret(k.Namespace, k.Name+"-db-connection", nil)
	expect.Object(t, c, connection, func() error {
		if !strings.Contains(string(connection.Data["connection"]), ":changed@") {
			return errors.New("the connection still has the old password")
		}
		return nil
	})
	after := deploymentOf(k)
	expect.Object(t, c, after, func() error {
		if cmp.Equal(before.Spec.Template.Annotations, after.Spec.Template.Annotations) {
			return errors.New("the pods are not replaced")
		}
		return nil
	})
	ready(t, c, k)
}

func TestAWrongNewPasswordNeverReachesThePods(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	before := deploymentOf(k)
	expect.Exists(t, c, before)
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k, operator: operator}
	setJob("schema-check", standin.Fail("Access denied for user 'keystone'"))(w)
	setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "wrong"})
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DBSyncFailed", "Access denied")
	settle(t, c, k, operator)
	after := deploymentOf(k)
	expect.Exists(t, c, after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the pod template (-before +after):\n%s", diff)
	}
	// A pod that restarts, or that the autoscaler adds, must still be able to connect.
	if err := connectsWith(t.Context(), c, k.Namespace, "database-password"); err != nil {
		t.Error(err)
	}
	fixPassword("schema-check")(w)
	ready(t, c, k)
	expect.Gone(t, c, secret(k.Namespace, k.Name+"-db-connection-next", nil))
}

// The server knows one password per user, so the pods pass through another user during
// the change.
func TestTheUserOfAManagedDatabaseKeepsItsPasswordWhilePodsUseIt(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[1])
	before := deploymentOf(k)
	expect.Exists(t, c, before)
	standby := k.Name + "-standby"
	mariadb.Set("User", k.Namespace, standby, standin.Hang())
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k, operator: operator}
	setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "changed"})
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "WaitingForDatabase")
	settle(t, c, k, operator)
	if got := passwordOf(t, c, k, k.Name); got != "database-password" {
		t.Errorf("the password of the pods' user becomes %q before another user can stand in", got)
	}
	if got := passwordOf(t, c, k, standby); got != "changed" {
		t.Errorf("the user that stands in has the password %q, want the new one", got)
	}
	after := deploymentOf(k)
	expect.Exists(t, c, after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the pod template (-before +after):\n%s", diff)
	}

	// The connection must survive the loss of its Secret while pods use it.
	objects.Delete(t, c, secret(k.Namespace, k.Name+"-db-connection", nil))
	expect.Eventually(t, "the lost connection", func(ctx context.Context) error {
		return connectsWith(ctx, c, k.Namespace, "database-password")
	})

	mariadb.Set("User", k.Namespace, standby, standin.Succeed())
	expect.Gone(t, c, &mariadbv1alpha1.User{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: standby}})
	expect.Gone(t, c, &mariadbv1alpha1.Grant{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: standby}})
	expect.Gone(t, c, secret(k.Namespace, k.Name+"-db-logins", nil))
	ready(t, c, k)
	if got := passwordOf(t, c, k, k.Name); got != "changed" {
		t.Errorf("the user's password ends as %q, want the new one", got)
	}
	connection := secret(k.Namespace, k.Name+"-db-connection", nil)
	expect.Exists(t, c, connection)
	if !strings.Contains(string(connection.Data["connection"]), "//keystone:changed@") {
		t.Error("the pods do not end with their own user and the new password")
	}
}

// passwordOf returns the password that mariadb-operator would set for the user.
func passwordOf(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, name string) string {
	t.Helper()
	user := &mariadbv1alpha1.User{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: name}}
	expect.Exists(t, c, user)
	ref := user.Spec.PasswordSecretKeyRef
	source := secret(k.Namespace, ref.Name, nil)
	expect.Exists(t, c, source)
	return string(source.Data[ref.Key])
}

func TestAnOptionThatTheImageCannotReadNeverReachesThePods(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	before := deploymentOf(k)
	expect.Exists(t, c, before)
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k, operator: operator}
	setJob("config-check", standin.Fail("[token] expiration: invalid literal for int()"))(w)
	expiration := func(value string) func(k *keystonev1alpha1.Keystone) {
		return func(k *keystonev1alpha1.Keystone) {
			k.Spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": value}}
		}
	}
	objects.Change(t, c, k, expiration("an hour"))
	expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "ConfigError", "[token] expiration", "spec.extraConfig")
	settle(t, c, k, operator)
	after := deploymentOf(k)
	expect.Exists(t, c, after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("the pod template (-before +after):\n%s", diff)
	}
	setJob("config-check", standin.Succeed())(w)
	objects.Change(t, c, k, expiration("3600"))
	ready(t, c, k)
}

func TestAChangedAdministratorPasswordRunsBootstrapOnceMore(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k}
	setSecret(w, testutil.AdminSecret, map[string]string{"password": "changed"})
	expect.Object(t, c, k, func() error {
		if runs := len(jobs.Runs(k.Namespace, k.Name+"-bootstrap")); runs != 2 {
			return fmt.Errorf("bootstrap succeeded %d times, expected 2", runs)
		}
		return nil
	})
	ready(t, c, k)
	settle(t, c, k, operator)
	if runs := len(jobs.Runs(k.Namespace, k.Name+"-db-sync")); runs != 1 {
		t.Errorf("db-sync succeeded %d times, expected 1: a password of Keystone has no part in the schema", runs)
	}
}

func TestAChangedOptionRollsThePodsAndNothingElse(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	before := deploymentOf(k)
	expect.Exists(t, c, before)
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": "7200"}}
	})
	ready(t, c, k)
	after := deploymentOf(k)
	expect.Exists(t, c, after)
	if cmp.Equal(before.Spec.Template, after.Spec.Template) {
		t.Error("the pods are not replaced")
	}
	settle(t, c, k, operator)
	for _, name := range jobNames {
		if runs := len(jobs.Runs(k.Namespace, k.Name+"-"+name)); runs != 1 {
			t.Errorf("%s succeeded %d times, expected 1: the option cannot affect its result", name, runs)
		}
	}
}

func TestSchemaAndBootstrapRunAgainOnRequest(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	for i, request := range []string{"after the restore", "after the second restore"} {
		objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
			metav1.SetMetaDataAnnotation(&k.ObjectMeta, keystonev1alpha1.AnnotationRunAgain, request)
		})
		expect.Eventually(t, "another run of each Job", func(context.Context) error {
			for _, name := range jobNames {
				if runs := len(jobs.Runs(k.Namespace, k.Name+"-"+name)); runs != i+2 {
					return fmt.Errorf("%s succeeded %d times, expected %d", name, runs, i+2)
				}
			}
			return nil
		})
		ready(t, c, k)
		settle(t, c, k, operator)
	}
}
