package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/c5c3/forge/hack/bench/internal/audit"
	"github.com/c5c3/forge/hack/bench/internal/machine"
	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/result"
)

// The columns of the table.
const (
	columnRequests  = "Requests each"
	columnPasses    = "Passes each"
	columnSeconds   = "Seconds"
	columnOperator  = "Operator, CPU ms each"
	columnAPIServer = "API server, CPU ms each"
	columnPeak      = "Operator, peak MiB"
	columnSettled   = "Operator, settled MiB"
	columnGroup     = "Control group, peak MiB"
	columnServerRSS = "API server, MiB"
	columnEtcdRSS   = "etcd, MiB"
)

// classColumns are the headings of the classes of requests.
var classColumns = map[audit.Class]string{
	audit.Creates: "Creates", audit.Patches: "Patches", audit.Deletes: "Deletes", audit.Status: "Status",
	audit.Reads: "Reads", audit.Misses: "Not found", audit.Events: "Events",
}

// Columns are all columns in display order.
func Columns() []result.Column {
	columns := []result.Column{{Name: columnRequests, Digits: 1}}
	for _, class := range audit.Classes {
		columns = append(columns, result.Column{Name: classColumns[class], Digits: 1})
	}
	return append(columns,
		result.Column{Name: columnPasses, Digits: 1},
		result.Column{Name: columnSeconds, Timed: true, Digits: 1},
		result.Column{Name: columnOperator, Timed: true, Digits: 1},
		result.Column{Name: columnAPIServer, Timed: true, Digits: 1},
		result.Column{Name: columnPeak}, result.Column{Name: columnSettled}, result.Column{Name: columnGroup},
		result.Column{Name: columnServerRSS}, result.Column{Name: columnEtcdRSS},
	)
}

// An operator is idle if for quietPeriod it has made no request and has used no
// more than quietCPU. Its periodic checks use less than that.
const (
	quietPeriod = 3 * time.Second
	quietCPU    = 60 * time.Millisecond
)

// reading is a snapshot of all gauges.
type reading struct {
	at        time.Time
	counts    audit.Counts
	operator  machine.Usage
	apiServer machine.Usage
	etcd      machine.Usage
	// passes counts those over resources since the operator has started.
	passes int
}

// read takes a reading of the operator, its requests and the machine.
func (r *Run) read() (reading, error) {
	if err := r.world.Audit.Read(); err != nil {
		return reading{}, err
	}
	now := reading{at: time.Now(), counts: r.world.Audit.Counts()}
	if err := r.operator.process.Alive(); err != nil {
		return reading{}, err
	}
	var err error
	if now.operator, err = r.operator.process.Usage(); err != nil {
		return reading{}, err
	}
	now.apiServer, now.etcd, err = r.world.Usage()
	return now, err
}

// quiet waits until the operator is idle.
func (r *Run) quiet(ctx context.Context) (reading, error) {
	since, err := r.read()
	if err != nil {
		return since, err
	}
	last := since
	err = objects.Poll(ctx, "wait until the operator is quiet", func(context.Context) (bool, error) {
		if last, err = r.read(); err != nil {
			return false, err
		}
		busy := last.counts.Sum() != since.counts.Sum() || last.operator.CPU-since.operator.CPU > quietCPU
		if busy {
			since = last
		}
		return last.at.Sub(since.at) >= quietPeriod, nil
	})
	if err != nil {
		return last, err
	}
	last.passes, err = r.operator.passes(ctx)
	return last, err
}

// measure records what act costs for each of the given number of resources: the time until
// it returns, and everything else until the operator is idle again.
func (r *Run) measure(ctx context.Context, scenario string, each int, act func(context.Context) error) error {
	before, err := r.quiet(ctx)
	if err != nil {
		return err
	}
	if err := r.operator.process.ResetPeak(); err != nil {
		return err
	}
	begun := time.Now()
	if err := act(ctx); err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	return r.record(ctx, scenario, each, before, time.Since(begun))
}

// usageSince returns what the operator and the servers have used since another reading, the
// CPU time and the passes for each of so many resources.
func (r reading) usageSince(before reading, share float64) map[string]float64 {
	milliseconds := func(d time.Duration) float64 { return float64(d.Milliseconds()) / share }
	return map[string]float64{
		columnPasses:    float64(r.passes-before.passes) / share,
		columnOperator:  milliseconds(r.operator.CPU - before.operator.CPU),
		columnAPIServer: milliseconds(r.apiServer.CPU - before.apiServer.CPU),
		columnPeak:      mib(r.operator.Peak),
		columnSettled:   mib(r.operator.RSS),
		columnServerRSS: mib(r.apiServer.RSS),
		columnEtcdRSS:   mib(r.etcd.RSS),
	}
}

// record records what has happened since before, once the operator is idle.
func (r *Run) record(ctx context.Context, scenario string, each int, before reading, took time.Duration) error {
	after, err := r.quiet(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	row := result.Row{Scenario: scenario, Size: r.size}
	share := float64(max(1, each))
	counts := after.counts.Since(before.counts)
	for class, count := range counts {
		r.samples.Add(row, classColumns[class], float64(count)/share)
	}
	r.samples.Add(row, columnRequests, float64(counts.Sum())/share)
	r.samples.Add(row, columnSeconds, took.Seconds())
	for column, value := range after.usageSince(before, share) {
		r.samples.Add(row, column, value)
	}
	r.say("%s: %.1f requests each, %.1f s, %.0f MiB at most, then %.0f MiB", scenario,
		float64(counts.Sum())/share, took.Seconds(), mib(after.operator.Peak), mib(after.operator.RSS))
	return r.recordGroup(row)
}

// recordGroup records the peak of the control group so far: what a
// container's limit would have had to allow.
func (r *Run) recordGroup(row result.Row) error {
	if r.operator.group == nil {
		return nil
	}
	peak, err := r.operator.group.Peak()
	if err != nil {
		return fmt.Errorf("peak of the control group: %w", err)
	}
	r.samples.Add(row, columnGroup, mib(peak))
	return nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
