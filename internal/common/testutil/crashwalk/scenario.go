package crashwalk

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// Scenario is the scenario of a walk. Its functions are called from several
// goroutines, each with a separate namespace. S is the state by which a run is
// judged.
type Scenario[S any] struct {
	// Config is how the operator reaches the API server.
	Config *rest.Config
	// Prepare creates a namespace with everything that the operator acts on, and
	// returns its name.
	Prepare func(ctx context.Context) (namespace string, err error)
	// Operator runs the operator for one namespace, with nothing in memory from
	// an earlier run and all requests made with cfg, until ctx ends.
	Operator func(ctx context.Context, cfg *rest.Config, namespace string) error
	// Settled returns nil once the operator has completed the scenario. In a disturbed
	// run that may be too early: a status from before the failure
	// looks like one from after it. Such a run ends when Compare succeeds.
	Settled func(ctx context.Context, namespace string) error
	// Observe reads the state, in terms that do not depend on the name of
	// the namespace.
	Observe func(ctx context.Context, namespace string) (S, error)
	// Compare returns what is wrong with the final state, given the state that
	// the undisturbed run reached and the state that a killed operator left. An
	// empty string means success.
	Compare func(undisturbed, failed, final S) string
	// Writes are the writes that every run of the scenario makes, in the format of
	// [transport.Call], with the minimum number of times. Each of them is
	// disturbed; the walk waits for that. Other writes of the undisturbed run
	// may be missing in other runs, such as status updates that coalesce: they
	// are disturbed where they happen.
	Writes map[string]int
	// Modes are the failures to try at each write; by default a process that
	// dies just after the write. Dying just before a write leaves the same state as
	// dying just after the previous one.
	Modes []transport.Mode
	// EveryCall also walks reads and watches, and alternates between the modes:
	// one failure per call. The modes must not kill.
	EveryCall bool
	// Long leaves the walk to runs without -short, because another scenario takes the same
	// code through a crash.
	Long bool
	// Parallel is the number of concurrent runs; by default 4.
	Parallel int
	// patience is how long it may take until Compare succeeds after the operator has
	// settled; by default [expect.Timeout].
	patience time.Duration
}
