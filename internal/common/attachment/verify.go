package attachment

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/digest"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

const (
	// verifyTask is the container of the task that verifies a resource.
	verifyTask = "attachment-verify"
	// exitUnfit is its exit code for what no retry can change.
	exitUnfit = 3
	// verifiedFor is how long a success counts. What a resource depends on, such as a directory, can fail at any time.
	verifiedFor = time.Hour
)

// Verification declares how the image of the service finds out whether a resource works, before
// pods get it and each hour from then on. The task also makes what the service needs for the
// resource, and repairs it.
type Verification[A Resource] struct {
	// Database is the database of the service.
	Database database.Database
	// Command verifies the resource. It may run again at any time. It ends with 0, and then its
	// termination message is what the service calls the resource, or with one line that says what
	// is wrong and what to do. The exit code is 3 if no retry can change that.
	Command func(*service.Pass, A) []string
	// Mounts returns what the command needs in addition to the configuration, the certificates of the
	// database and the files of the resource. It may be nil.
	Mounts func(*service.Pass) []deployment.Mount
}

// referencePattern matches what a service calls a resource. A pod can write anything into its
// termination message.
var referencePattern = regexp.MustCompile(`^[-_.A-Za-z0-9]{1,64}$`)

// VerificationName returns the name of the task that verifies a resource.
func VerificationName(uid types.UID) string {
	sum := digest.Of([]byte(uid))
	return "verify-" + hex.EncodeToString(sum[:4])
}

// VerificationTask builds the task that verifies the resource. It runs again for another
// configuration of the resource, and not for another one of the service. After a success it runs
// again when that no longer counts.
func (d Declaration[A]) VerificationTask(p *service.Pass, a Accepted[A]) deployment.Task {
	return deployment.Task{
		Name: VerificationName(a.Resource.GetUID()), Container: verifyTask, Retries: 2,
		Command:  d.Verification.Command(p, a.Resource),
		Failures: []batchv1.PodFailurePolicyRule{deployment.FailsAtOnce(verifyTask, exitUnfit)},
		Env:      d.Verification.Database.ToolEnv(p),
		Mounts:   d.toolMounts(p, deployment.SecretMount(d.Files.Volume, a.secret, d.Files.Folder)),
		RunKey:   []any{a.Resource.GetUID(), a.Configuration, a.verifiedAt},
	}
}

// toolMounts returns the mounts of a task that uses the code and the database of the service, with its own.
func (d Declaration[A]) toolMounts(p *service.Pass, own ...deployment.Mount) []deployment.Mount {
	mounts := slices.Concat([]deployment.Mount{deployment.ConfigMount(p)}, database.TLSMounts(p), own)
	if d.Verification.Mounts != nil {
		mounts = append(mounts, d.Verification.Mounts(p)...)
	}
	return mounts
}

// verificationOf returns what is known about the configuration, nil for nothing.
func verificationOf(entry *commonv1.Attached, configuration string) *commonv1.Verification {
	if entry == nil || entry.Verification == nil || entry.Verification.Configuration != configuration {
		return nil
	}
	return entry.Verification
}

// isVerified reports whether a Job has last found that the configuration works. What pods have was
// verified before they got it.
func (d Declaration[A]) isVerified(entry *commonv1.Attached, configuration string) bool {
	if known := verificationOf(entry, configuration); d.Verification != nil && known != nil {
		return known.Failure == ""
	}
	return d.Verification == nil || hasConfiguration(entry, configuration)
}

// hasConfiguration reports whether all pods have the configuration.
func hasConfiguration(entry *commonv1.Attached, configuration string) bool {
	return entry != nil && configuration != "" && entry.Configuration == configuration
}

// countsFor returns for how long the last success counts, zero if it is time to verify again, as after a clock
// was ahead.
func (a Accepted[A]) countsFor(p *service.Pass) time.Duration {
	if a.verifiedAt == nil {
		return 0
	}
	left := a.verifiedAt.Add(verifiedFor).Sub(p.Now())
	if left > verifiedFor {
		return 0
	}
	return max(left, 0)
}

// doubt makes another configuration than the one that a Job has begun to verify count for nothing: the Job may change
// what the service has for it. If the resource is changed back, it is verified again.
func doubt(entry *commonv1.Attached, begun string) {
	if entry != nil && entry.Verification != nil && entry.Verification.Configuration != begun {
		entry.Verification.VerifiedAt = nil
	}
}

// endTime returns when the Job ended, to the second. The clock of its controller may be ahead.
func endTime(live *batchv1.Job, now time.Time) metav1.Time {
	if _, _, at := job.Ended(live); !at.IsZero() && at.Before(now) {
		now = at
	}
	return metav1.NewTime(now).Rfc3339Copy()
}

// unverified returns the reason and the message of a configuration that is not verified.
func (d Declaration[A]) unverified(p *service.Pass, resource A, entry *commonv1.Attached, configuration string) (reason, message string) {
	if known := verificationOf(entry, configuration); known != nil {
		return vocabulary.ReasonVerificationFailed, known.Failure
	}
	return vocabulary.ReasonVerifying, fmt.Sprintf(
		"Job %s verifies it, once the database of %s %s is ready", p.Named(VerificationName(resource.GetUID())), p.Kind, p.Resource.GetName())
}

// Verify verifies the resources that pods are to get, or have had for some time. The step that reads the result is
// [Declaration.Reconcile], in the pass after the change of the status.
func (d Declaration[A]) Verify(ctx context.Context, p *service.Pass) reconcile.Outcome {
	done := reconcile.Done(vocabulary.ReasonAttachmentsReady, "")
	if p.Status.UpgradePhase.IsOffline() {
		// Nothing but the upgrade may use the database.
		return done
	}
	entries := entriesOf(p)
	for _, a := range d.Unverified.Value(p.Slots) {
		state, failure, err := d.verify(ctx, p, a)
		if err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
		}
		done = done.Within(state.Again)
		if failure == "" && (!state.Complete || !job.Stopped(state.Job)) {
			doubt(of(*entries, a.Resource), a.Configuration)
			continue
		}
		found := &commonv1.Verification{Configuration: a.Configuration, Failure: failure, VerifiedAt: a.verifiedAt}
		if failure == "" {
			found.VerifiedAt = ptr.To(endTime(state.Job, p.Now()))
			if found.Reference, err = d.reference(ctx, p, state.Job); err != nil {
				return reconcile.Failed(vocabulary.ReasonReconcileError, err)
			}
		}
		if of(*entries, a.Resource) == nil {
			*entries = append(*entries, commonv1.Attached{Name: a.Resource.GetName(), UID: a.Resource.GetUID()})
		}
		of(*entries, a.Resource).Verification = found
	}
	return done
}

// verify runs the Job. The failure is "" unless the Job has failed.
func (d Declaration[A]) verify(ctx context.Context, p *service.Pass, a Accepted[A]) (state job.State, failure string, err error) {
	desired, err := deployment.TaskJob(p, d.VerificationTask(p, a))
	if err != nil {
		return state, "", err
	}
	state, err = service.Runner(p).Run(ctx, p.Resource, desired)
	if failed, ok := errors.AsType[*job.FailedError](err); ok {
		// The Job is repeated then.
		state.Again = failed.RetryAfter()
		return state, failed.Text, nil
	}
	return state, "", err
}

// reference returns what the Job says that the service calls the resource. It asks the API server,
// once for each success: the cache has no pods that have succeeded.
func (d Declaration[A]) reference(ctx context.Context, p *service.Pass, live *batchv1.Job) (string, error) {
	if live == nil {
		return "", nil
	}
	pods, err := job.Pods(ctx, p.APIReader, live)
	if err != nil {
		return "", err
	}
	for i := range pods {
		for _, status := range pods[i].Status.ContainerStatuses {
			if said := said(status); said != "" {
				return said, nil
			}
		}
	}
	return "", nil
}

// said returns the reference in the termination message of the container, "" if there is none.
func said(status corev1.ContainerStatus) string {
	ended := status.State.Terminated
	if status.Name != verifyTask || ended == nil || ended.ExitCode != 0 {
		return ""
	}
	return referencePattern.FindString(strings.TrimSpace(ended.Message))
}
