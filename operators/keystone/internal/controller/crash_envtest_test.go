//go:build integration

package controller_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// outcome is what a run of the operator is judged by.
type outcome struct {
	// Children are all objects of the Keystone, orphans of lost writes included.
	Children []string
	// Conditions are status and reason of each condition.
	Conditions map[string]string
	// Runs is how often each Job succeeded.
	Runs map[string]int
	// InstalledRelease is that of the status.
	InstalledRelease string
	// Keys are digests of what must never be made twice. They differ between
	// runs, but not within one.
	Keys map[string]string
}

// Kinds of writes that many ways have in common.
const (
	createSecret  = "create secrets"
	createJob     = "create jobs.batch"
	deleteJob     = "delete jobs.batch"
	pushSecret    = "apply pushsecrets.external-secrets.io"
	patchKeystone = "patch keystones.keystone.openstack.c5c3.io"
	updateStatus  = "update keystones.keystone.openstack.c5c3.io/status"
)

// firstWrites are what the operator writes for any new Keystone.
var firstWrites = map[string]int{
	patchKeystone: 2, createSecret: 5, "create configmaps": 3, createJob: 3, pushSecret: 2,
	"apply services": 1, "apply deployments.apps": 1, "apply poddisruptionbudgets.policy": 1, "apply cronjobs.batch": 3,
	"apply serviceaccounts": 2, "apply roles.rbac.authorization.k8s.io": 2, "apply rolebindings.rbac.authorization.k8s.io": 2,
	updateStatus: 1,
}

// withDatabase adds what the operator writes for a database of mariadb-operator.
func withDatabase(writes map[string]int) map[string]int {
	writes = maps.Clone(writes)
	for _, kind := range []string{"databases", "users", "grants"} {
		writes["apply "+kind+".k8s.mariadb.com"] = 1
	}
	return writes
}

var jobNames = []string{"db-sync", "schema-check", "bootstrap"}

func observe(ctx context.Context, c client.Client, namespace string) (outcome, error) {
	o := outcome{Conditions: map[string]string{}, Runs: map[string]int{}, Keys: map[string]string{}}
	k := testutil.Brownfield(namespace, testutil.Name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return o, err
	}
	o.InstalledRelease = k.Status.InstalledRelease
	for _, condition := range k.Status.Conditions {
		o.Conditions[condition.Type] = string(condition.Status) + "/" + condition.Reason
	}
	found, err := testutil.Children(ctx, c, namespace)
	if err != nil {
		return o, err
	}
	o.Children = testutil.Names(found)
	for _, name := range jobNames {
		o.Runs[name] = len(jobs.Runs(namespace, testutil.Name+"-"+name))
	}
	for _, name := range []string{"fernet-keys", "credential-keys"} {
		secret := &corev1.Secret{}
		err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: testutil.Name + "-" + name}, secret)
		if client.IgnoreNotFound(err) != nil {
			return o, err
		}
		for _, index := range slices.Sorted(maps.Keys(secret.Data)) {
			digest := sha256.Sum256(secret.Data[index])
			o.Keys[name+"/"+index] = hex.EncodeToString(digest[:4])
		}
	}
	return o, nil
}

// compareOutcomes wants the final state to be that of an undisturbed run, and
// keys that existed at the failure to be the same ones.
func compareOutcomes(undisturbed, failed, final outcome) string {
	for name, digest := range failed.Keys {
		if final.Keys[name] != digest {
			return fmt.Sprintf("the key %s existed at the failure and was replaced or lost later", name)
		}
	}
	if got, want := len(final.Keys), len(undisturbed.Keys); got != want {
		return fmt.Sprintf("there are %d keys, expected %d", got, want)
	}
	undisturbed.Keys, final.Keys = nil, nil
	if diff := cmp.Diff(undisturbed, final); diff != "" {
		return "the final state (-undisturbed +got):\n" + diff
	}
	return ""
}

// readyNow returns nil if the Keystone is ready.
func readyNow(ctx context.Context, c client.Client, namespace string) error {
	k := testutil.Brownfield(namespace, testutil.Name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return err
	}
	condition := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionReady)
	switch {
	case condition == nil:
		return errors.New("the Keystone has no condition Ready")
	case condition.Status != metav1.ConditionTrue:
		return errors.New(condition.Message)
	}
	backup := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionBackupHealthy)
	if backup == nil || backup.Status != metav1.ConditionTrue {
		return errors.New("the keys are not backed up")
	}
	return nil
}

// prepare creates a namespace with a Keystone that no operator has seen.
func prepare(ctx context.Context, c client.Client, m mode) (namespace string, err error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
	if err := c.Create(ctx, ns); err != nil {
		return "", err
	}
	for _, obj := range append(m.inputs(ns.Name), m.keystone(ns.Name, testutil.Name)) {
		if err := c.Create(ctx, obj); err != nil {
			return "", err
		}
	}
	return ns.Name, nil
}

func runQuietly(ctx context.Context, cfg *rest.Config, namespace string) error {
	return testutil.Run(ctx, cfg, namespace, &testutil.API{}, logr.Discard())
}

// wayToReady is the way of a new Keystone of the mode, with failures at its
// writes.
func wayToReady(t *testing.T, m mode, writes map[string]int, failures ...transport.Mode) crashwalk.Scenario[outcome] {
	t.Helper()
	c := env.Client(t, controller.Scheme())
	return crashwalk.Scenario[outcome]{
		Config:   asOperator,
		Modes:    failures,
		Writes:   writes,
		Prepare:  func(ctx context.Context) (string, error) { return prepare(ctx, c, m) },
		Operator: runQuietly,
		Settled:  func(ctx context.Context, namespace string) error { return readyNow(ctx, c, namespace) },
		Observe:  func(ctx context.Context, namespace string) (outcome, error) { return observe(ctx, c, namespace) },
		Compare:  compareOutcomes,
	}
}

// The state of the cluster changes with writes only, so that a kill at a read
// leaves what a kill after the write before it does. A managed Keystone makes
// all the writes of a brownfield one, and three more.
func TestAnOperatorKilledAtAnyWriteConvergesAfterRestart(t *testing.T) {
	t.Parallel()
	crashwalk.Walk(t, wayToReady(t, modes[1], withDatabase(firstWrites), transport.KillAfter))
}

func TestAWriteWhoseAnswerIsLostIsRepeatedByTheSameOperator(t *testing.T) {
	t.Parallel()
	crashwalk.Walk(t, wayToReady(t, modes[0], firstWrites, transport.FailAfter))
}

func TestAnOperatorGoesOnWhateverTheAPIServerAnswersToAnyCall(t *testing.T) {
	t.Parallel()
	way := wayToReady(t, modes[0], firstWrites,
		transport.Conflict, transport.TooManyRequests, transport.InternalError, transport.Timeout)
	way.EveryCall = true
	crashwalk.Walk(t, way)
}

// prepareDeleted creates a namespace with a Keystone that was ready and is
// deleted while no operator runs.
func prepareDeleted(ctx context.Context, c client.Client, m mode) (namespace string, err error) {
	namespace, err = prepare(ctx, c, m)
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
	return namespace, c.Delete(ctx, m.keystone(namespace, testutil.Name))
}

func TestAnOperatorKilledDuringDeletionFinishesItAfterRestart(t *testing.T) {
	t.Parallel()
	c, m := env.Client(t, controller.Scheme()), modes[1]
	crashwalk.Walk(t, crashwalk.Scenario[[]string]{
		Config: asOperator,
		Writes: map[string]int{
			"delete databases.k8s.mariadb.com": 1, "delete users.k8s.mariadb.com": 1, "delete grants.k8s.mariadb.com": 1,
			"delete pushsecrets.external-secrets.io": 2, patchKeystone: 2, updateStatus: 1,
		},
		Prepare:  func(ctx context.Context) (string, error) { return prepareDeleted(ctx, c, m) },
		Operator: runQuietly,
		Settled: func(ctx context.Context, namespace string) error {
			err := c.Get(ctx, client.ObjectKeyFromObject(m.keystone(namespace, testutil.Name)), m.keystone(namespace, testutil.Name))
			if apierrors.IsNotFound(err) {
				return noChildren(ctx, c, namespace)
			}
			return errors.Join(errors.New("the Keystone is still there"), err)
		},
		Observe: func(ctx context.Context, namespace string) ([]string, error) {
			found, err := testutil.Children(ctx, c, namespace)
			return testutil.Names(found), err
		},
		Compare: func(undisturbed, _, final []string) string { return cmp.Diff(undisturbed, final) },
	})
}

func TestALostKeyWouldBeNoticedByTheCrashWalk(t *testing.T) {
	undisturbed := outcome{Keys: map[string]string{"fernet-keys/0": "a"}}
	failed := outcome{Keys: map[string]string{"fernet-keys/0": "b"}}
	final := outcome{Keys: map[string]string{"fernet-keys/0": "c"}}
	if compareOutcomes(undisturbed, failed, final) == "" {
		t.Error("a replaced key was not noticed")
	}
	if wrong := compareOutcomes(undisturbed, failed, failed); wrong != "" {
		t.Errorf("a kept key was reported: %s", wrong)
	}
}
