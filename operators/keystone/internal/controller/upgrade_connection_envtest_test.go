//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// A password change is unrelated to the release, even after an upgrade.
func TestAPasswordChangeAfterAnUpgradeRunsNoMigration(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, atOldRelease)
	setTag(t, c, k, newTag)
	installed(t, c, k, newTag)
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k}
	setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "changed"})
	expect.Eventually(t, "a check of the changed connection", func(context.Context) error {
		if runs := runsOf(k)["schema-check"]; runs != 3 {
			return fmt.Errorf("%d checks", runs)
		}
		return nil
	})
	ready(t, c, k)
	settle(t, c, k, operator)
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 3, "db-expand": 1, "db-migrate": 1, "db-contract": 1})
}

// Everything that starts during the upgrade, such as a pod or a Job of a CronJob, must be
// able to connect.
func TestAWrongPasswordDuringAnUpgradeNeverReachesThePods(t *testing.T) {
	t.Parallel()
	c, k, operator := upgrading(t, "db-migrate", standin.Hang())
	inPhase(t, c, k, commonv1.UpgradePhaseMigrating)
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k}
	setJob("schema-check", standin.Fail("Access denied for user 'keystone'"))(w)
	setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "wrong"})
	expect.Exists(t, c, secret(k.Namespace, k.Name+"-db-connection-next", nil))
	settleOn(k, "db-migrate", standin.Succeed())
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DBSyncFailed", "Access denied", "to abort the upgrade")
	settle(t, c, k, operator)
	if err := connectsWith(t.Context(), c, k.Namespace, "database-password"); err != nil {
		t.Error(err)
	}
	live := deploymentOf(k)
	expect.Exists(t, c, live)
	if got := live.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(got, ":"+oldTag) {
		t.Errorf("the pods run %s before the connection is proven", got)
	}
	setJob("schema-check", standin.Succeed())(w)
	setSecret(w, testutil.DatabaseSecret, map[string]string{"password": "right"})
	installed(t, c, k, newTag)
	if err := connectsWith(t.Context(), c, k.Namespace, "right"); err != nil {
		t.Error(err)
	}
	expect.Gone(t, c, secret(k.Namespace, k.Name+"-db-connection-next", nil))
}

// connectsWith returns nil if the pods get the database password.
func connectsWith(ctx context.Context, c client.Client, namespace, password string) error {
	connection := secret(namespace, testutil.Name+"-db-connection", nil)
	if err := c.Get(ctx, client.ObjectKeyFromObject(connection), connection); err != nil {
		return err
	}
	if !strings.Contains(string(connection.Data["connection"]), ":"+password+"@") {
		return errors.New("the pods are given another database password")
	}
	return nil
}
