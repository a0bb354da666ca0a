//go:build integration

package controller_test

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// Kinds of writes that many walks have in common.
const (
	createSecret  = "create secrets"
	createJob     = "create jobs.batch"
	deleteJob     = "delete jobs.batch"
	pushSecret    = "apply pushsecrets.external-secrets.io"
	patchKeystone = "patch keystones.keystone.openstack.c5c3.io"
	updateStatus  = "update keystones.keystone.openstack.c5c3.io/status"
)

var jobNames = []string{"db-sync", "schema-check", "bootstrap"}

// readyNow returns nil if the Keystone is ready.
func readyNow(ctx context.Context, c client.Client, namespace string) error {
	k := testutil.Brownfield(namespace, testutil.Name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
		return err
	}
	condition := meta.FindStatusCondition(k.Status.Conditions, vocabulary.ConditionReady)
	switch {
	case condition == nil:
		return errors.New("the Keystone has no condition Ready")
	case condition.Status != metav1.ConditionTrue:
		return errors.New(condition.Message)
	}
	backup := meta.FindStatusCondition(k.Status.Conditions, vocabulary.ConditionBackupHealthy)
	if backup == nil || backup.Status != metav1.ConditionTrue {
		return errors.New("the keys are not backed up")
	}
	return nil
}

// prepare creates a namespace with a Keystone that no operator has reconciled yet.
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
	return testutil.Run(ctx, cfg, namespace)
}
