//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
)

// lifetimesOf returns the series about keys in the namespace, by metric and key type. The
// operators of all tests share their registry, and stopped ones may leave collectors that
// fail.
func lifetimesOf(namespace string) map[string]float64 {
	found := map[string]float64{}
	families, _ := ctrlmetrics.Registry.Gather()
	for _, family := range families {
		for _, series := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range series.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["namespace"] == namespace && labels["key_type"] != "" {
				found[family.GetName()+" "+labels["key_type"]] = series.GetGauge().GetValue()
			}
		}
	}
	return found
}

func expectLifetimes(t *testing.T, namespace string, names ...string) map[string]float64 {
	t.Helper()
	slices.Sort(names)
	var found map[string]float64
	expect.Eventually(t, fmt.Sprintf("there are the series %v", names), func(context.Context) error {
		found = lifetimesOf(namespace)
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(found))); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
	return found
}

func TestKeyAgeMetricsAreExportedUntilTheKeystoneIsDeleted(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	const fernet, credential = " fernet", " credential"
	age, due := metrics.KeyRotationAge.Name, metrics.KeyRotationDue.Name
	always := []string{age + fernet, age + credential, due + fernet, due + credential}
	first := expectLifetimes(t, k.Namespace, slices.Clone(always)...)
	inAWeek := float64(time.Now().AddDate(0, 0, 7).Unix())
	if got := first[due+fernet]; got <= float64(time.Now().Unix()) || got > inAWeek {
		t.Errorf("the weekly rotation is due at %s", time.Unix(int64(got), 0))
	}

	expectKeys(t, c, k.Namespace, "fernet", rotateOnce(t, c, k.Namespace, "fernet", 3, someTime))
	expectEmptyStaging(t, c, k.Namespace, "fernet")
	rotateOnce(t, c, k.Namespace, "fernet", 3, "2026-05-04T04:00:00Z")
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionTrue, "FernetKeysAvailable", "held until")
	expectLifetimes(t, k.Namespace, append(slices.Clone(always), metrics.KeyRotationHeld.Name+fernet)...)
	backdate(t, c, k.Namespace, "fernet", 50*time.Hour)
	expectEmptyStaging(t, c, k.Namespace, "fernet")
	expectLifetimes(t, k.Namespace, slices.Clone(always)...)

	objects.Delete(t, c, k)
	expect.Gone(t, c, k)
	expectLifetimes(t, k.Namespace)
}
