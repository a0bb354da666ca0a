//go:build integration

package controller_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestAPlacementConverges(t *testing.T) {
	for name, managed := range map[string]bool{"brownfield": false, "managed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := started(t, managed)
			ready(t, p)
			for conditionType, reason := range map[string]string{
				"SecretsReady": "SecretsAvailable", "DatabaseTLSReady": "NotRequired", "ServiceUserReady": "ServiceUserAccepted",
				"NetworkPolicyReady": "NetworkPolicyNotRequired", "DatabaseReady": "DatabaseSynced",
				"PolicyValidReady": "PolicyValidationNotRequired", "DeploymentReady": "DeploymentReady",
				"HTTPRouteReady": "HTTPRouteNotRequired", "PlacementAPIReady": "APIHealthy", "HPAReady": "HPANotRequired",
				"LoggingHealthy": "StderrEnabled",
			} {
				expect.Condition(t, admin, p, conditionType, metav1.ConditionTrue, reason)
			}
			status := p.Status.ServiceStatus.DeepCopy()
			status.Conditions = nil
			if diff := cmp.Diff(&commonv1.ServiceStatus{
				ObservedGeneration: p.Generation, InstalledRelease: "2025.2",
				Endpoint: "http://placement." + p.Namespace + ".svc.cluster.local:8778",
			}, status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}
