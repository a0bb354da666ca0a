// The keystone operator brings up and runs OpenStack Keystone.
package main

import (
	"github.com/c5c3/forge/internal/common/operator"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/controller"
)

func main() {
	operator.Main(options())
}

func options() operator.Options {
	return operator.Options{
		Name:             "keystone-operator",
		LeaderElectionID: "keystone.openstack.c5c3.io",
		Scheme:           controller.Scheme(),
		Setup:            controller.Setup,
		CacheTransform:   controller.TrimForeign,
		Webhooks:         (&keystonev1alpha1.KeystoneWebhook{}).SetupWebhookWithManager,
	}
}
