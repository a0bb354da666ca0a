package scheduled

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestWhatWasDeletedIsRemovedAsTheSpecSays(t *testing.T) {
	wrecks := CleanUp{What: "wrecks", Command: func(days string) []string {
		return []string{"harbour-manage", "raise", "--sunk-before", days}
	}}
	var wanted *commonv1.CleanUpSpec
	commonv1.SetCleanUpDefaults(&wanted)
	want := Run{Command: []string{"harbour-manage", "raise", "--sunk-before", "90"}, Schedule: "30 3 * * *"}
	if diff := cmp.Diff(want, wrecks.run(wanted)); diff != "" {
		t.Errorf("by default (-want +got):\n%s", diff)
	}
	wanted = &commonv1.CleanUpSpec{Schedule: "@weekly", Suspend: true, MinDays: 7}
	commonv1.SetCleanUpDefaults(&wanted)
	want = Run{Command: []string{"harbour-manage", "raise", "--sunk-before", "7"}, Schedule: "@weekly", Suspend: true}
	if diff := cmp.Diff(want, wrecks.run(wanted)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
