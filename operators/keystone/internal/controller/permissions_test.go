package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/permission"
)

func TestTheMarkersPermitWhatTheControllerWatchesAndWrites(t *testing.T) {
	permission.Check(t, Controller.Scheme(), Controller.Watched(), "keystone_controller.go")
}
