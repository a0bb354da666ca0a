// The keystone operator brings up and runs OpenStack Keystone.
package main

import (
	"embed"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/webhook"
)

//go:embed config/crd/bases/*.yaml
var crds embed.FS

func main() {
	operator.Main(options())
}

func options() operator.Options {
	return operator.Options{
		Name:             "keystone-operator",
		LeaderElectionID: "keystone.openstack.c5c3.io",
		Scheme:           controller.Controller.Scheme(),
		Definitions:      crds,
		Setup:            controller.Controller.Setup,
		CacheTransform:   controller.Controller.Trim(),
		Webhooks: func(mgr ctrl.Manager, cfg startup.Config) error {
			if err := webhook.NewIdentityBackendWebhook().SetupWebhookWithManager(mgr); err != nil {
				return err
			}
			return webhook.NewKeystoneWebhook(cfg.Cluster).SetupWebhookWithManager(mgr)
		},
	}
}
