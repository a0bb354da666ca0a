package attachment

import (
	"context"
	"encoding/hex"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/digest"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	// removeTask is the container of the task that removes what belongs to a resource.
	removeTask = "attachment-remove"
	// exitRefused is its exit code if the user has to agree first.
	exitRefused = 3
)

// Removal declares how the image of the service removes what its database has of a resource, once
// no pod has the resource any more. The task runs in the environment of the verification.
type Removal[A Resource] struct {
	// Wanted reports whether that is to be removed.
	Wanted func(A) bool
	// Consent is what the user has agreed to. The task runs again when it changes.
	Consent func(A) string
	// Command removes it. It may run again at any time. It ends with 0 once nothing is left, or with
	// one line that says what is wrong and what to do. The exit code is 3 if the user has to agree.
	Command func(*service.Pass, A) []string
}

// RemovalName returns the name of the task that removes what belongs to a resource.
func RemovalName(uid types.UID) string {
	sum := digest.Of([]byte(uid))
	return "remove-" + hex.EncodeToString(sum[:4])
}

// RemovalTask builds the task that removes what belongs to the resource.
func (d Declaration[A]) RemovalTask(p *service.Pass, resource A) deployment.Task {
	return deployment.Task{
		Name: RemovalName(resource.GetUID()), Container: removeTask, Retries: 2,
		Command:  d.Removal.Command(p, resource),
		Failures: []batchv1.PodFailurePolicyRule{deployment.FailsAtOnce(removeTask, exitRefused)},
		Env:      d.Verification.Database.ToolEnv(p),
		Mounts:   d.toolMounts(p),
		RunKey:   []any{resource.GetUID(), d.Removal.Consent(resource)},
	}
}

// removes reports whether something is removed at the end of the resource.
func (d Declaration[A]) removes(resource A) bool {
	return d.Removal != nil && d.Removal.Wanted(resource)
}

// endUncounted is [Declaration.end] of a resource in which nothing is stored that the service needs.
func (d Declaration[A]) endUncounted(ctx context.Context, p *service.Pass, resource A, entry *commonv1.Attached) (time.Duration, error) {
	if entry.Phase != commonv1.AttachedReleasing || !d.removes(resource) {
		entry.InUse = ""
		entry.Phase = next(entry.Phase, false)
		return 0, nil
	}
	found, err := d.remove(ctx, p, resource)
	if err != nil || !found.done {
		return found.again, err
	}
	if entry.InUse = found.inUse; entry.InUse == "" {
		entry.Phase = commonv1.AttachedReleased
	}
	return found.again, nil
}

// remove runs the task that removes what belongs to the resource. The verification, which might make it
// again, has ended by then.
func (d Declaration[A]) remove(ctx context.Context, p *service.Pass, resource A) (finding, error) {
	desired, err := deployment.TaskJob(p, d.RemovalTask(p, resource))
	if err != nil {
		return finding{}, err
	}
	runner := service.Runner(p)
	live, err := runner.Find(ctx, p.Resource, desired.Name)
	if err != nil {
		return finding{}, err
	}
	if live == nil {
		verification := &batchv1.Job{ObjectMeta: p.Meta(p.Named(VerificationName(resource.GetUID())))}
		if gone, err := runner.Remove(ctx, p.Resource, verification); !gone || err != nil {
			return finding{}, err
		}
	}
	return find(ctx, p, desired, func(failed *job.FailedError) string {
		if failed.ExitCode == exitRefused {
			return failed.Text
		}
		return "the removal of what belongs to it has failed and is repeated: " + failed.Text
	})
}
