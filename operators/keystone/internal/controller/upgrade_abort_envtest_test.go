//go:build integration

package controller_test

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// The old release's db_sync does not know the revision that the new one left.
func TestAPatchAfterAnAbortedUpgradeRunsNoMigration(t *testing.T) {
	t.Parallel()
	c, k, _ := upgrading(t, "db-migrate", standin.Hang())
	inPhase(t, c, k, commonv1.UpgradePhaseMigrating)
	setTag(t, c, k, oldTag)
	installed(t, c, k, oldTag)
	setTag(t, c, k, oldTag+"-fixed")
	installed(t, c, k, oldTag+"-fixed")
	expectRuns(t, k, map[string]int{"db-sync": 1, "schema-check": 2, "db-expand": 1})
}
