package report

import (
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

func TestAPausedServiceIsShownInTheTree(t *testing.T) {
	keystone := testutil.Keystone(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady),
		testutil.True(vocabulary.ConditionPaused, vocabulary.ReasonPaused))
	node := Node{}
	describeConditions(&node, keystone, keystone.Status.Conditions)
	if !strings.HasSuffix(node.Text, ", paused") {
		t.Errorf("got %q", node.Text)
	}
}
