//go:build integration

package v1alpha1_test

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	. "github.com/c5c3/forge/operators/placement/api/v1alpha1"
	"github.com/c5c3/forge/operators/placement/internal/webhook"
)

const samples = ConfigDir + "/samples/*.yaml"

// env is the API server of this package's tests.
var env *envtest.Env

func TestMain(m *testing.M) {
	apitest.Main(m, ConfigDir, func(e *envtest.Env) { env = e })
}

func TestTheSchemaAloneKeepsAPlacementSafe(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	Placements().TheSchemaAlone(t, server)
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	server.ServeWebhooks(t, ConfigDir, webhook.NewPlacementWebhook(cluster.Settings{}).SetupWebhookWithManager)
	Placements().TheWebhook(t, server)
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}
