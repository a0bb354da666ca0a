//go:build integration

package operator

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
)

func TestProfilesAreServedWhereTheFlagSaysAndNowhereElse(t *testing.T) {
	namespace := env.Namespace(t)
	profiles, metrics := fmt.Sprintf("localhost:%d", envtest.FreePort(t)), fmt.Sprintf("localhost:%d", envtest.FreePort(t))
	r := start(t, namespace, env.Config, watching(&seen{}), "--enable-webhooks=false", "--namespace="+namespace,
		"--pprof-bind-address="+profiles, "--metrics-bind-address="+metrics)

	expect.Eventually(t, "a heap profile is served", func(ctx context.Context) error {
		code, err := scrape(ctx, "http://"+profiles+"/debug/pprof/heap", "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("got %d", code)
		}
		return err
	})
	expect.Eventually(t, "/readyz passes", r.passes("/readyz"))
	for _, address := range []string{metrics, r.probes} {
		if code, err := scrape(t.Context(), "http://"+address+"/debug/pprof/heap", ""); err == nil && code == http.StatusOK {
			t.Errorf("%s serves profiles, too", address)
		}
	}
}
