//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// expectRegion waits until all endpoints in Keystone are in the region.
func (w *world) expectRegion(t *testing.T, region string, endpoints int) {
	t.Helper()
	expect.Eventually(t, "the region of the endpoints", func(context.Context) error {
		got := korc.Regions(w.cp.Namespace)
		for entry, of := range got {
			if of != region {
				return fmt.Errorf("%s is in region %q", entry, of)
			}
		}
		if len(got) != endpoints {
			return fmt.Errorf("there are the endpoints %v", got)
		}
		return nil
	})
}

// catalogServices waits until the catalog has exactly these services.
func (w *world) catalogServices(t *testing.T, names ...string) {
	t.Helper()
	expect.Eventually(t, "the services in the catalog", func(context.Context) error {
		got := slices.Sorted(maps.Keys(korc.Names(w.cp.Namespace, "Service")))
		if diff := cmp.Diff(names, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

func TestTheEndpointsOfAllServicesAreInTheRegionOfTheControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWith(t, services.Placement)
	w.cp.Spec.Region = "EU-West"
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.reportService(t, services.Placement, "2025.2", true)
	w.expect(t, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered")
	w.expectRegion(t, "EU-West", 3)
}

func TestARegionDriftOfAnEndpointIsRepaired(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	w.expectRegion(t, "RegionOne", 3)
	for _, id := range korc.Names(w.cp.Namespace, "Endpoint") {
		korc.SetRegion(w.cp.Namespace, id, "")
	}
	w.pass(t, proofPeriod)
	w.expectRegion(t, "RegionOne", 3)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAForbiddenEndpointChangeIsReported(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	forbidding.Store(w.cp.Namespace, true)
	w.seed()
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "CatalogReady", metav1.ConditionFalse, "EndpointRegionError", "in region RegionOne: it answered with status 403",
		"allow the administrator to change endpoints and regions")
	forbidding.Delete(w.cp.Namespace)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.expectRegion(t, "RegionOne", 1)
}
