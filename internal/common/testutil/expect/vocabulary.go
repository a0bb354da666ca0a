package expect

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Vocabulary lists a kind's conditions and reasons, and those that no test can
// produce.
type Vocabulary struct {
	vocabulary.Kind
	// Unreached maps each reason that no run against an API server can produce to
	// the explanation.
	Unreached map[string]string
}

// Vocabularies returns the vocabularies of several kinds. unreached lists the
// reasons that no test can produce under the names of their kinds.
func Vocabularies(kinds []vocabulary.Kind, unreached map[string]map[string]string) []Vocabulary {
	all := make([]Vocabulary, 0, len(kinds))
	for _, kind := range kinds {
		all = append(all, Vocabulary{Kind: kind, Unreached: unreached[kind.Kind]})
	}
	return all
}

// state is a condition of a kind with its status and reason.
type state struct {
	kind, condition string
	status          metav1.ConditionStatus
	reason          string
}

var (
	shownMu sync.Mutex
	shown   = map[state]bool{}
)

// Observed records a state that a test has expected and observed by other means than [Condition].
func Observed(c client.Client, obj client.Object, condition string, status metav1.ConditionStatus, reason string) {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return
	}
	shownMu.Lock()
	defer shownMu.Unlock()
	shown[state{gvk.Kind, condition, status, reason}] = true
}

// Gaps describes the reasons that no test of this process has expected and observed
// so far, and those that a test has observed although they count as unreached.
// Conditions share reasons, so each condition must be observed with each of its
// reasons.
func (v Vocabulary) Gaps() (gaps []string) {
	shownMu.Lock()
	defer shownMu.Unlock()
	check := func(condition string, status metav1.ConditionStatus, reasons []string) {
		for _, reason := range reasons {
			why := v.Unreached[reason]
			what := fmt.Sprintf("%s=%s of a %s with the reason %s", condition, status, v.Kind.Kind, reason)
			switch found := shown[state{v.Kind.Kind, condition, status, reason}]; {
			case !found && why == "":
				gaps = append(gaps, "no test expects "+what+": write one")
			case found && why != "":
				gaps = append(gaps, fmt.Sprintf("a test has shown %s, of which is said that %s: one of them is wrong", what, why))
			}
		}
	}
	for _, condition := range v.Conditions {
		check(condition.Type, metav1.ConditionTrue, condition.True)
		check(condition.Type, metav1.ConditionFalse, condition.False)
	}
	return gaps
}
