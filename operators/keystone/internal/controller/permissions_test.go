package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/permission"
)

func TestTheMarkersPermitWhatTheControllerWatchesAndWrites(t *testing.T) {
	permission.Check(t, "keystone_controller.go", Scheme(), declaration.Watched())
}
