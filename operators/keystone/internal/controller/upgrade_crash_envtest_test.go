//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// upgradeOutcome is what a walk through an upgrade is judged by.
type upgradeOutcome struct {
	Status   keystonev1alpha1.KeystoneStatus
	Runs     map[string]int
	Children []string
}

func observeUpgrade(ctx context.Context, c client.Client, namespace string) (upgradeOutcome, error) {
	k := testutil.Brownfield(namespace, testutil.Name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return upgradeOutcome{}, err
	}
	found, err := testutil.Children(ctx, c, namespace)
	status := k.Status
	status.KeysHash = "" // Keys are random.
	status.Conditions, status.Endpoint = nil, ""
	return upgradeOutcome{Status: status, Runs: runsOf(k), Children: testutil.Names(found)}, err
}

// prepareTag creates a namespace with a Keystone that an operator has brought to the
// state reached, and then sets the tag while no operator is running.
func prepareTag(
	ctx context.Context, c client.Client, m mode, tags []string, reached func(context.Context, *keystonev1alpha1.Keystone) error,
) (string, error) {
	namespace, err := prepare(ctx, c, m)
	if err != nil {
		return "", err
	}
	k := m.keystone(namespace, testutil.Name)
	settleOn(k, "db-migrate", standin.Hang())
	set := func(tag string) error {
		before := k.DeepCopy()
		k.Spec.Image.Tag = tag
		return c.Patch(ctx, k, client.MergeFrom(before))
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- runQuietly(running, asOperator, namespace) }()
	err = expect.Until(ctx, func(ctx context.Context) error { return readyNow(ctx, c, namespace) })
	for _, tag := range tags[:len(tags)-1] {
		err = errors.Join(err, c.Get(ctx, client.ObjectKeyFromObject(k), k), set(tag))
	}
	err = errors.Join(err, expect.Until(ctx, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
			return err
		}
		return reached(ctx, k)
	}))
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return "", err
	}
	settleOn(k, "db-migrate", standin.Succeed())
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return "", err
	}
	return namespace, set(tags[len(tags)-1])
}

// walkTag disturbs the walk of a Keystone from a change of its tag to Ready.
func walkTag(
	t *testing.T, m mode, tags []string, reached func(context.Context, *keystonev1alpha1.Keystone) error,
	writes map[string]int, modes ...transport.Mode,
) {
	t.Helper()
	c := env.Client(t, controller.Controller.Scheme())
	tag := tags[len(tags)-1]
	crashwalk.Walk(t, crashwalk.Scenario[upgradeOutcome]{
		Config: asOperator, Long: tag == oldTag, Modes: modes, Writes: writes, Operator: runQuietly,
		Prepare: func(ctx context.Context) (string, error) { return prepareTag(ctx, c, m, tags, reached) },
		Settled: func(ctx context.Context, namespace string) error {
			state, err := observeUpgrade(ctx, c, namespace)
			if err != nil {
				return err
			}
			// Generations count the changes of the tag: the last one must have been
			// observed.
			if state.Status.ObservedGeneration != int64(len(tags)+1) || state.Status.InstalledRelease != tag || state.Status.UpgradePhase != "" {
				return fmt.Errorf("the status is %+v", state.Status)
			}
			return readyNow(ctx, c, namespace)
		},
		Observe: func(ctx context.Context, namespace string) (upgradeOutcome, error) {
			return observeUpgrade(ctx, c, namespace)
		},
		Compare: func(undisturbed, _, final upgradeOutcome) string {
			// How far a stopped Job got depends on timing.
			if tag == oldTag {
				undisturbed.Runs, final.Runs = maps.Clone(undisturbed.Runs), maps.Clone(final.Runs)
				delete(undisturbed.Runs, "db-migrate")
				delete(final.Runs, "db-migrate")
			}
			return cmp.Diff(undisturbed, final)
		},
	})
}

func anyState(context.Context, *keystonev1alpha1.Keystone) error { return nil }

func migrating(ctx context.Context, k *keystonev1alpha1.Keystone) error {
	if k.Status.UpgradePhase != commonv1.UpgradePhaseMigrating {
		return fmt.Errorf("the phase is %q", k.Status.UpgradePhase)
	}
	return admin.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Name + "-db-migrate"}, &batchv1.Job{})
}

func held(_ context.Context, k *keystonev1alpha1.Keystone) error {
	database := meta.FindStatusCondition(k.Status.Conditions, vocabulary.ConditionDatabaseReady)
	if database == nil || database.Reason != vocabulary.ReasonUpgradeHeld {
		return fmt.Errorf("DatabaseReady is %+v", database)
	}
	return nil
}

func TestAnOperatorKilledDuringAnUpgradeFinishesItAfterRestart(t *testing.T) {
	t.Parallel()
	// One status for each phase and for the end, and one Job for each phase and the
	// check.
	writes := map[string]int{
		updateStatus: 5, createJob: 4, deleteJob: 1, patchKeystone: 1, "apply deployments.apps": 1, "apply cronjobs.batch": 3,
	}
	walkTag(t, atOldRelease, []string{newTag}, anyState, writes, transport.KillAfter, transport.FailAfter)
}

func TestAnOperatorKilledDuringAnOfflineUpgradeFinishesItAfterRestart(t *testing.T) {
	t.Parallel()
	// One status for each phase and for the end, and one for the start of the downtime and its
	// end. One Job tries the image, one migrates and one checks.
	writes := map[string]int{
		updateStatus: 4, createJob: 3, deleteJob: 2, patchKeystone: 1, "apply deployments.apps": 2, "apply cronjobs.batch": 6,
	}
	walkTag(t, offlineMode(), []string{farTag}, anyState, writes, transport.KillAfter, transport.FailAfter)
}

func TestAnOperatorKilledDuringAnOfflineAbortFinishesItAfterRestart(t *testing.T) {
	t.Parallel()
	writes := map[string]int{updateStatus: 1, "apply deployments.apps": 1, "apply cronjobs.batch": 3}
	walkTag(t, offlineMode(commonv1.AnnotationHoldUpgrade), []string{farTag, oldTag}, held, writes)
}

func TestAnOperatorKilledDuringAnUpgradeAbortFinishesItAfterRestart(t *testing.T) {
	t.Parallel()
	walkTag(t, atOldRelease, []string{newTag, oldTag}, migrating, map[string]int{deleteJob: 2, updateStatus: 1})
}
