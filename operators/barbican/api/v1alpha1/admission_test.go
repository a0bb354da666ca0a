//go:build integration

package v1alpha1_test

import (
	"testing"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	. "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	"github.com/c5c3/forge/operators/barbican/internal/webhook"
)

const samples = ConfigDir + "/samples/*.yaml"

// env is the API server of this package's tests.
var env *envtest.Env

func TestMain(m *testing.M) {
	apitest.Main(m, ConfigDir, func(e *envtest.Env) { env = e })
}

func TestTheSchemaAloneKeepsABarbicanSafe(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	Kinds().Each(t, func(kind apitest.Subject, t *testing.T) { kind.TheSchemaAlone(t, server) })
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}

func TestTheWebhookCompletesTheSchema(t *testing.T) {
	server := apitest.Start(t, env, apitest.Scheme(t, AddToScheme))
	server.ServeWebhooks(t, ConfigDir,
		webhook.NewBarbicanWebhook(cluster.Settings{}).SetupWebhookWithManager, webhook.NewSecretStoreWebhook().SetupWebhookWithManager)
	Barbicans().TheWebhook(t, server)
	t.Run("of secret stores", func(t *testing.T) { SecretStores().TheWebhook(t, server) })
	t.Run("accepts the samples", func(t *testing.T) { server.Samples(t, samples) })
}
