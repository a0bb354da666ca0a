//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

const (
	oldTag = "2025.1"
	newTag = "2025.2"
	farTag = "2027.2"
)

// atOldRelease is the brownfield mode with the release before that of the fixtures.
var atOldRelease = mode{"brownfield", testutil.Secrets, func(namespace, name string) *keystonev1alpha1.Keystone {
	k := testutil.Brownfield(namespace, name)
	k.Spec.Image.Tag = oldTag
	return k
}}

func setTag(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, tag string) {
	t.Helper()
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Image.Tag = tag })
}

// upgrading starts an upgrade of a converged Keystone that gets stuck where the object
// named stuck has the outcome.
func upgrading(t *testing.T, stuck string, outcome standin.Outcome) (client.Client, *keystonev1alpha1.Keystone, *testutil.Operator) {
	t.Helper()
	c, k, operator := converged(t, atOldRelease)
	settleOn(k, stuck, outcome)
	setTag(t, c, k, newTag)
	return c, k, operator
}

// settleOn sets the outcome of a Job, or of the Deployment if name is "".
func settleOn(k *keystonev1alpha1.Keystone, name string, outcome standin.Outcome) {
	if name == "" {
		deployments.Set(k.Namespace, k.Name, outcome)
		return
	}
	jobs.Set(k.Namespace, k.Name+"-"+name, outcome)
}

// installed waits until the Keystone is ready with the release.
func installed(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, tag string) {
	t.Helper()
	ready(t, c, k)
	if got, want := k.Status, (commonv1.ServiceStatus{InstalledRelease: tag}); got.InstalledRelease != tag ||
		got.TargetRelease != "" || got.UpgradePhase != "" {
		t.Errorf("the status is %+v, expected %+v", got, want)
	}
	deploy := deploymentOf(k)
	expect.Exists(t, c, deploy)
	if got := deploy.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(got, ":"+tag) {
		t.Errorf("the pods run %s, expected release %s", got, tag)
	}
	expectCronImages(t, c, k, tag)
}

func expectCronImages(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, tag string) {
	t.Helper()
	expect.Eventually(t, "the image of the CronJobs", func(ctx context.Context) error {
		var list batchv1.CronJobList
		if err := c.List(ctx, &list, client.InNamespace(k.Namespace)); err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return errors.New("there is no CronJob")
		}
		for i := range list.Items {
			for _, container := range list.Items[i].Spec.JobTemplate.Spec.Template.Spec.Containers {
				if !strings.HasSuffix(container.Image, ":"+tag) {
					return fmt.Errorf("CronJob %s runs %s", list.Items[i].Name, container.Image)
				}
			}
		}
		return nil
	})
}

// runsOf counts how often each schema Job of the Keystone succeeded.
func runsOf(k *keystonev1alpha1.Keystone) map[string]int {
	runs := map[string]int{}
	for _, name := range []string{"db-sync", "schema-check", "db-expand", "db-migrate", "db-contract"} {
		if count := len(jobs.Runs(k.Namespace, k.Name+"-"+name)); count > 0 {
			runs[name] = count
		}
	}
	return runs
}

func expectRuns(t *testing.T, k *keystonev1alpha1.Keystone, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, runsOf(k)); diff != "" {
		t.Errorf("successful Jobs (-want +got):\n%s", diff)
	}
}

func inPhase(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, phase commonv1.UpgradePhase) {
	t.Helper()
	expect.Object(t, c, k, func() error {
		if k.Status.UpgradePhase != phase || k.Status.ObservedGeneration != k.Generation {
			return fmt.Errorf("the phase is %q, expected %q", k.Status.UpgradePhase, phase)
		}
		return nil
	})
}

var upgradeEvents = []string{
	"UpgradeInitiated", "ExpandComplete", "MigrateComplete", "DeploymentRolloutComplete", "UpgradeComplete",
}

func TestAnUpgradeRunsEachPhaseOnceAndThenNothingAnymore(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, atOldRelease)
	setTag(t, c, k, newTag)
	installed(t, c, k, newTag)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionTrue, "DatabaseSynced",
		"Database schema is up to date", "(upgraded 2025.1 → 2025.2)")
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 2, "db-expand": 1, "db-migrate": 1, "db-contract": 1})
	settle(t, c, k, operator)
	before := k.DeepCopy()
	for range 3 {
		if requests := pass(t, c, k, operator); len(requests) > 0 {
			t.Errorf("a pass after the upgrade took %d requests:\n%s", len(requests), requests)
		}
	}
	expect.Exists(t, c, k)
	if diff := cmp.Diff(before.Status, k.Status); diff != "" {
		t.Errorf("the status after the upgrade (-before +after):\n%s", diff)
	}
	expectOnce(t, c, k, operator, upgradeEvents...)
}

func TestTwoConsecutiveUpgradesSucceed(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, atOldRelease)
	for _, tag := range []string{"2025.2", "2026.1"} {
		setTag(t, c, k, tag)
		installed(t, c, k, tag)
	}
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionTrue, "DatabaseSynced", "(upgraded 2025.2 → 2026.1)")
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 3, "db-expand": 2, "db-migrate": 2, "db-contract": 2})
}

func TestAnUpgradeWithAnImagePullFailureIsReportedAndCanBeAborted(t *testing.T) {
	t.Parallel()
	c, k, _ := upgrading(t, "db-expand", standin.NoImage("not found"))
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "ExpandInProgress",
		"cannot pull image", "set image.tag back to 2025.1")
	setTag(t, c, k, oldTag)
	installed(t, c, k, oldTag)
}

// apiPod is a pod of the Keystone's Deployment on a node without a kubelet: once deleted
// it stays, like a pod that is still finishing requests, until it is removed.
func apiPod(k *keystonev1alpha1.Keystone, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.Namespace, Name: "old-pod",
			Labels: map[string]string{
				"app.kubernetes.io/name": "keystone", "app.kubernetes.io/instance": k.Name,
				"app.kubernetes.io/managed-by": "keystone-operator",
			},
		},
		Spec: corev1.PodSpec{NodeName: "gone", Containers: []corev1.Container{{Name: "keystone", Image: image}}},
	}
}

func removePod(t *testing.T, c client.Client, pod *corev1.Pod) {
	t.Helper()
	objects.Delete(t, c, pod, client.GracePeriodSeconds(0))
}

func TestNothingIsContractedWhileAPodOfTheOldReleaseEnds(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, atOldRelease)
	pod := apiPod(k, "ghcr.io/c5c3/keystone:"+oldTag)
	objects.Create(t, c, pod)
	objects.Delete(t, c, pod)
	expect.Exists(t, c, pod)
	operator.Sees(t, pod)
	setTag(t, c, k, newTag)
	expect.Condition(t, c, k, "DeploymentReady", metav1.ConditionFalse, "WaitingForDeployment", "old-pod", oldTag)
	settle(t, c, k, operator)
	inPhase(t, c, k, commonv1.UpgradePhaseRollingUpdate)
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 1, "db-expand": 1, "db-migrate": 1})
	removePod(t, c, pod)
	installed(t, c, k, newTag)
}

// A status may be lost, for instance if a backup is restored without it.
func TestAnUpgradeGoesOnAfterItsStatusIsLost(t *testing.T) {
	t.Parallel()
	c, k, operator := upgrading(t, "", standin.Hang())
	pod := apiPod(k, "ghcr.io/c5c3/keystone:"+oldTag)
	objects.Create(t, c, pod)
	inPhase(t, c, k, commonv1.UpgradePhaseRollingUpdate)
	operator.Stop()
	objects.ChangeStatus(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Status = keystonev1alpha1.KeystoneStatus{} })
	testutil.Start(t, asOperator, k.Namespace)
	inPhase(t, c, k, commonv1.UpgradePhaseRollingUpdate)
	settleOn(k, "", standin.Succeed())
	removePod(t, c, pod)
	installed(t, c, k, newTag)
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 2, "db-expand": 1, "db-migrate": 1, "db-contract": 1})
}

func TestAPatchReleaseSyncsTheSchemaBeforeTheRollout(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, atOldRelease)
	const patched = oldTag + "-upgraded"
	settleOn(k, "db-sync", standin.Hang())
	setTag(t, c, k, patched)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DBSyncInProgress")
	expectCronImages(t, c, k, oldTag)
	if k.Status.UpgradePhase != "" {
		t.Errorf("a patch release has the phase %s", k.Status.UpgradePhase)
	}
	deploy := deploymentOf(k)
	expect.Exists(t, c, deploy)
	if got := deploy.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(got, ":"+oldTag) {
		t.Errorf("the pods run %s before its schema is there", got)
	}
	settleOn(k, "db-sync", standin.Succeed())
	installed(t, c, k, patched)
	settle(t, c, k, operator)
	expectRuns(t, k, map[string]int{"db-sync": 2, "schema-check": 2})
}

func TestAKeystoneIsDeletedInTheMiddleOfAnUpgrade(t *testing.T) {
	t.Parallel()
	c, k, _ := upgrading(t, "db-expand", standin.Hang())
	inPhase(t, c, k, commonv1.UpgradePhaseExpanding)
	objects.Delete(t, c, k)
	expect.Gone(t, c, k)
	expect.Eventually(t, "no children", func(ctx context.Context) error { return noChildren(ctx, c, k.Namespace) })
}

func TestAChangedOptionDuringAnUpgradeReachesOnlyTheNewPods(t *testing.T) {
	t.Parallel()
	c, k, _ := upgrading(t, "db-expand", standin.Hang())
	inPhase(t, c, k, commonv1.UpgradePhaseExpanding)
	before := deploymentOf(k)
	expect.Exists(t, c, before)
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": "7200"}}
	})
	inPhase(t, c, k, commonv1.UpgradePhaseExpanding)
	after := deploymentOf(k)
	expect.Exists(t, c, after)
	if diff := cmp.Diff(before.Spec.Template, after.Spec.Template); diff != "" {
		t.Errorf("pods of the old release got an option that was not tried with it (-before +after):\n%s", diff)
	}
	settleOn(k, "db-expand", standin.Succeed())
	installed(t, c, k, newTag)
}
