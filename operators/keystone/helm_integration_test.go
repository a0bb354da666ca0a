//go:build integration && helm

package main

import "testing"

func TestHelmUpgradesRollsBackAndUninstallsWithoutTakingAnything(t *testing.T) {
	resource := readKeystone(t, env.Namespace(t))
	chart(t).Lifecycle(t, "../../tests/e2e/released", resource, "keystones.keystone.openstack.c5c3.io")
}
