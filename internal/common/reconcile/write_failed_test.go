package reconcile

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
)

func TestAFailedWriteIsRetriedUnlessTheUserHasToAct(t *testing.T) {
	cause := errors.New("cause")
	for name, test := range map[string]struct {
		err   error
		want  verdict
		after time.Duration
	}{
		"a foreign object":          {fmt.Errorf("%w: Secret a", apply.ErrNotOwned), verdictTerminal, ObstructionPeriod},
		"a child of a predecessor":  {fmt.Errorf("%w: Secret a", apply.ErrPredecessor), verdictWaiting, 0},
		"a Job that failed":         {fmt.Errorf("checking: %w", &job.FailedError{Job: "a"}), verdictTerminal, job.RetryAfter},
		"an invalid object":         {apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "a", nil), verdictTerminal, refusalPeriod},
		"a request that is refused": {apierrors.NewBadRequest("a"), verdictTerminal, refusalPeriod},
		"a conflict":                {apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "a", cause), verdictFailed, 0},
		"any other error":           {cause, verdictFailed, 0},
	} {
		got := WriteFailed("Reason", test.err)
		if got.verdict != test.want || got.after != test.after || got.reason != "Reason" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
