// Package program describes the keystone operator to the programs that run it: its own, and the one of
// all service operators.
package program

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/operators/keystone/config/crd"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
	"github.com/c5c3/forge/operators/keystone/internal/webhook"
)

// Options describe the operator, whichever program runs it.
func Options() operator.Options {
	return operator.Options{
		Name:             "keystone-operator",
		LeaderElectionID: "keystone.openstack.c5c3.io",
		Scheme:           controller.Controller.Scheme(),
		Definitions:      crd.Files,
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
