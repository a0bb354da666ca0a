package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/permission"
)

func TestTheMarkersPermitWhatTheControllersWatchAndWrite(t *testing.T) {
	files := []string{
		"controlplane_controller.go", "../secretaggregate/controller.go",
		"../services/keystone.go", "../services/barbican.go", "../services/glance.go", "../services/horizon.go", "../services/placement.go",
	}
	for _, c := range controllers {
		permission.Check(t, Scheme(), c.Watched(), files...)
	}
}
