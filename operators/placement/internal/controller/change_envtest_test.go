//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// installed waits until the release is.
func installed(t *testing.T, p *placementv1alpha1.Placement, release string) {
	t.Helper()
	expect.Object(t, admin, p, func() error {
		if p.Status.InstalledRelease != release || p.Status.UpgradePhase != "" {
			return fmt.Errorf("release %q is installed, phase %q", p.Status.InstalledRelease, p.Status.UpgradePhase)
		}
		return nil
	})
	ready(t, p)
}

func setTag(t *testing.T, p *placementv1alpha1.Placement, tag string) {
	t.Helper()
	objects.Change(t, admin, p, func(p *placementv1alpha1.Placement) { p.Spec.Image.Tag = tag })
}

func TestAnUpgradeEndsOrIsTakenBack(t *testing.T) {
	t.Parallel()
	p, _ := started(t, true)
	installed(t, p, "2025.2")
	jobs.Set(p.Namespace, "placement-db-migrate", standin.Hang())
	setTag(t, p, "2026.1")
	expect.Condition(t, admin, p, "DatabaseReady", metav1.ConditionFalse, "MigrateInProgress")
	if p.Status.TargetRelease != "2026.1" {
		t.Errorf("the upgrade leads to %q", p.Status.TargetRelease)
	}
	setTag(t, p, "2025.2")
	installed(t, p, "2025.2")
	for _, name := range []string{"db-expand", "db-migrate", "db-contract"} {
		expect.Gone(t, admin, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name + "-" + name}})
	}
	jobs.Set(p.Namespace, "placement-db-migrate", standin.Succeed())
	setTag(t, p, "2026.1")
	installed(t, p, "2026.1")
}

func TestDeletionRemovesAllThatThePlacementMade(t *testing.T) {
	t.Parallel()
	p, _ := started(t, true)
	ready(t, p)
	objects.Delete(t, admin, p.DeepCopy())
	expect.Gone(t, admin, p.DeepCopy())
	expect.Eventually(t, "Secrets and ConfigMaps of the Placement gone", func(ctx context.Context) error {
		secrets, configMaps := &corev1.SecretList{}, &corev1.ConfigMapList{}
		if err := errors.Join(admin.List(ctx, secrets), admin.List(ctx, configMaps)); err != nil {
			return err
		}
		for _, found := range secrets.Items {
			if found.Namespace == p.Namespace && metav1.IsControlledBy(&found, p) {
				return fmt.Errorf("there is Secret %s", found.Name)
			}
		}
		for _, found := range configMaps.Items {
			if found.Namespace == p.Namespace && metav1.IsControlledBy(&found, p) {
				return fmt.Errorf("there is ConfigMap %s", found.Name)
			}
		}
		return nil
	})
}

func TestAPassOverAConvergedPlacementMakesNoRequest(t *testing.T) {
	t.Parallel()
	p, operator := started(t, true)
	ready(t, p)
	expect.Eventually(t, "a pass without a request", func(context.Context) error {
		before, passes := operator.requests.Snapshot(), operator.passes.Load()
		objects.Change(t, admin, secret(p.Namespace, p.Name+"-db-connection", "", ""), func(s *corev1.Secret) {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "example.com/touched", s.ResourceVersion)
		})
		expect.Eventually(t, "a pass", func(context.Context) error {
			if operator.passes.Load() == passes {
				return errors.New("there was none")
			}
			return nil
		})
		requests := operator.requests.Since(before).Filter(func(r transport.Request) bool { return r.Resource != "" && !r.Event() })
		if len(requests) > 0 {
			return fmt.Errorf("the last pass took %d:\n%s", len(requests), requests)
		}
		return nil
	})
}
