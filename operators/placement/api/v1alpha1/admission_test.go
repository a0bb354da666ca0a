//go:build integration

package v1alpha1

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

const samples = configDir + "/samples/*.yaml"

func TestTheSchemaAloneKeepsAPlacementSafe(t *testing.T) {
	server := apitest.Start(t, configDir, apitest.Scheme(t, AddToScheme))
	placements().TheSchemaAlone(t, server)
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := apitest.Start(t, configDir, apitest.Scheme(t, AddToScheme), NewPlacementWebhook(cluster.Settings{}).SetupWebhookWithManager)
	placements().TheWebhook(t, server)
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}
