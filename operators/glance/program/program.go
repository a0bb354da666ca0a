// Package program describes the glance operator to the programs that run it: its own, and the one of
// all service operators.
package program

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/operators/glance/config/crd"
	"github.com/c5c3/forge/operators/glance/internal/controller"
	"github.com/c5c3/forge/operators/glance/internal/webhook"
)

// Options describe the operator, whichever program runs it.
func Options() operator.Options {
	return operator.Options{
		Name:             "glance-operator",
		LeaderElectionID: "glance.openstack.c5c3.io",
		Scheme:           controller.Controller.Scheme(),
		Definitions:      crd.Files,
		Setup:            controller.Controller.Setup,
		CacheTransform:   controller.Controller.Trim(),
		Webhooks: func(mgr ctrl.Manager, cfg startup.Config) error {
			if err := webhook.NewGlanceBackendWebhook().SetupWebhookWithManager(mgr); err != nil {
				return err
			}
			return webhook.NewGlanceWebhook(cfg.Cluster).SetupWebhookWithManager(mgr)
		},
	}
}
