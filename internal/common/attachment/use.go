package attachment

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/digest"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	// useFile is the Python script, among the configuration files, that counts items.
	useFile = "attachment_use.py"
	// useTask is the container of the task.
	useTask = "attachment-use"
	// exitInUse is the exit code of the script if there are items.
	exitInUse = 3
)

//go:embed files/attachment_use.py
var useScript string

// script returns the script that counts items.
func (u Usage) script() string {
	script := config.SetConstant(useScript, "VARIABLE", u.Database.Variable())
	script = config.SetConstant(script, "QUERY", u.Query)
	return config.SetConstant(script, "ITEMS", u.Items)
}

// TaskName returns the name of the task that counts what is stored in a resource.
func TaskName(uid types.UID) string {
	sum := digest.Of([]byte(uid))
	return "use-" + hex.EncodeToString(sum[:4])
}

// Task builds the task that counts what is stored in the resource. It runs again in the next
// phase of the resource's end.
func (d Declaration[A]) Task(p *service.Pass, resource A, phase commonv1.AttachedPhase) deployment.Task {
	return deployment.Task{
		Name: TaskName(resource.GetUID()), Container: useTask, Retries: 2,
		Command:  []string{"python3", p.ConfigDir + useFile, resource.GetName()},
		Failures: []batchv1.PodFailurePolicyRule{deployment.FailsAtOnce(useTask, exitInUse)},
		Env:      d.Usage.Database.ToolEnv(p),
		Mounts:   append([]deployment.Mount{deployment.ConfigMount(p)}, database.TLSMounts(p)...),
		RunKey:   []any{resource.GetUID(), phase},
	}
}

// end takes the next step towards the end of a resource. What is stored in it is counted
// twice: while pods have it, so that they keep it if there is anything, and once none has it
// any more, because something may have been stored in between. It returns when to look again,
// zero if an event tells.
func (d Declaration[A]) end(
	ctx context.Context, p *service.Pass, accepted []Accepted[A], resource A, entry *commonv1.Attached,
) (time.Duration, error) {
	switch entry.Phase {
	case commonv1.AttachedReleased:
		return 0, nil
	case "":
		entry.Phase = commonv1.AttachedEmptying
	}
	if d.Usage == nil {
		return d.endUncounted(ctx, p, resource, entry)
	}
	if entry.Phase == commonv1.AttachedEmptying {
		// The resource may have been accepted just before its deletion.
		staying := slices.DeleteFunc(slices.Clone(accepted), func(a Accepted[A]) bool {
			return !a.Resource.GetDeletionTimestamp().IsZero() || a.Resource.GetUID() == resource.GetUID()
		})
		if lacking := d.lacking(p, staying); lacking != "" {
			entry.InUse = "it cannot do without it; " + lacking
			return 0, nil
		}
	}
	found, err := d.count(ctx, p, resource, entry.Phase)
	if err != nil || !found.done {
		return found.again, err
	}
	entry.InUse = found.inUse
	entry.Phase = next(entry.Phase, found.inUse != "")
	return found.again, nil
}

// next is the phase after one in which it was found out whether anything is stored.
func next(phase commonv1.AttachedPhase, inUse bool) commonv1.AttachedPhase {
	switch {
	case inUse:
		return commonv1.AttachedEmptying
	case phase == commonv1.AttachedEmptying:
		return commonv1.AttachedReleasing
	}
	return commonv1.AttachedReleased
}

// finding is what is known about what is stored in a resource.
type finding struct {
	// done is false while that is being found out.
	done bool
	// inUse says what is stored, or why that is not known, "" if there is nothing.
	inUse string
	// again is when to look again.
	again time.Duration
}

func (d Declaration[A]) count(ctx context.Context, p *service.Pass, resource A, phase commonv1.AttachedPhase) (finding, error) {
	desired, err := deployment.TaskJob(p, d.Task(p, resource, phase))
	if err != nil {
		return finding{}, err
	}
	return find(ctx, p, desired, func(failed *job.FailedError) string {
		if failed.ExitCode == exitInUse {
			return fmt.Sprintf("there are %s in it (%s); %s", d.Usage.Items, failed.Text, d.Usage.Remedy)
		}
		return "the number of " + d.Usage.Items + " in it is not known: " + failed.Text
	})
}

// find runs a Job that ends well if nothing is stored. A failed one is repeated.
func find(ctx context.Context, p *service.Pass, desired *batchv1.Job, inUse func(*job.FailedError) string) (finding, error) {
	state, err := service.Runner(p).Run(ctx, p.Resource, desired)
	if failed, ok := errors.AsType[*job.FailedError](err); ok {
		return finding{done: true, inUse: inUse(failed), again: failed.RetryAfter()}, nil
	}
	return finding{done: state.Complete, again: state.Again}, err
}

// jobs returns the names of the tasks about a resource.
func (d Declaration[A]) jobs(uid types.UID) (names []string) {
	if d.Usage != nil {
		names = append(names, TaskName(uid))
	}
	if d.Verification != nil {
		names = append(names, VerificationName(uid))
	}
	if d.Removal != nil {
		names = append(names, RemovalName(uid))
	}
	return names
}

// forget removes the Jobs of resources that are gone.
func (d Declaration[A]) forget(ctx context.Context, p *service.Pass, before, after []commonv1.Attached) error {
	for _, entry := range before {
		if slices.ContainsFunc(after, func(a commonv1.Attached) bool { return a.UID == entry.UID }) {
			continue
		}
		for _, name := range d.jobs(entry.UID) {
			if err := apply.EnsureAbsent(ctx, p.Client, p.Resource, &batchv1.Job{ObjectMeta: p.Meta(p.Named(name))}); err != nil {
				return err
			}
		}
	}
	return nil
}
