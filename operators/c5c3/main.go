// The c5c3 operator brings up and runs OpenStack control planes.
package main

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/c5c3/forge/internal/common/operator"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

func main() {
	operator.Main(options())
}

func options() operator.Options {
	return operator.Options{
		Name:             "c5c3-operator",
		LeaderElectionID: "c5c3.openstack.c5c3.io",
		Scheme:           controller.Scheme(),
		Setup:            controller.Setup,
		Webhooks: func(mgr ctrl.Manager) error {
			webhook := &c5c3v1alpha1.ControlPlaneWebhook{Client: mgr.GetAPIReader()}
			return webhook.SetupWebhookWithManager(mgr)
		},
	}
}
