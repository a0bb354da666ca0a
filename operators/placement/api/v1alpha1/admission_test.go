//go:build integration

package v1alpha1

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

const samples = configDir + "/samples/*.yaml"

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, scheme.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestTheSchemaAloneKeepsAPlacementSafe(t *testing.T) {
	server := apitest.Start(t, configDir, testScheme(t))
	placements().TheSchemaAlone(t, server)
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := apitest.Start(t, configDir, testScheme(t), NewPlacementWebhook(cluster.Settings{}).SetupWebhookWithManager)
	placements().TheWebhook(t, server)
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}
