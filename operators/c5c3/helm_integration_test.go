//go:build integration && helm

package main

import "testing"

func TestHelmUpgradesRollsBackAndUninstallsWithoutDataLoss(t *testing.T) {
	resource := chart.Resource(t, chart.Env.Namespace(t))
	chart.Lifecycle(t, "../../tests/e2e/released", resource,
		"controlplanes.c5c3.io", "credentialrotations.c5c3.io", "secretaggregates.c5c3.io")
}
