package schema

import (
	"cmp"
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// checkingImage lets a task look into the image before anything is done with it. The task
// fails if the image holds another major version than the one given; zero accepts any.
func (w *work) checkingImage(t deployment.Task, major int) deployment.Task {
	check := image.Check(w.Pass, major)
	t.Init = &check
	t.Failures = append(t.Failures, deployment.FailsAtOnce(image.Container, image.Unfit))
	return t
}

// promisedMajor returns the major version that the tag of the spec stands for, zero if it is
// unknown.
func (w *work) promisedMajor() int {
	wanted, err := release.Parse(w.Spec.Image.Tag)
	if err != nil {
		return 0
	}
	major, _ := w.Application.Majors.Of(wanted)
	return major
}

// installedMajor returns the major version that was found in the installed image, zero if
// it is unknown. Another build of a release with another one would change the schema under
// the pods that serve. An image that does not hold what its tag says is to be replaced by
// one that does.
func (w *work) installedMajor() int {
	found := w.Status.ImageOf(w.Status.InstalledRelease)
	if found == nil || !image.Consistent(w.Definition, found) {
		return 0
	}
	held, known := w.Application.Majors.ReleaseOf(found.Version)
	if !known {
		return 0
	}
	major, _ := w.Application.Majors.Of(held)
	return major
}

// requiredMajor returns the major version that an image of the installed release, or the
// first one, must have, zero for any. A digest stands for one image, which is held to its tag
// from the first installation on.
func (w *work) requiredMajor() int {
	if w.Spec.Image.Digest == "" {
		return w.installedMajor()
	}
	return cmp.Or(w.promisedMajor(), w.installedMajor())
}

// checkDigest looks into an image whose digest has changed during an upgrade, before
// anything runs with it.
func (w *work) checkDigest(ctx context.Context) error {
	if w.Spec.Image.Digest == "" || image.Found(w.Status, w.Spec.Image.Reference()) != nil {
		return nil
	}
	hint := ""
	if !w.Status.UpgradePhase.IsFinal() {
		hint = w.abortHint()
	}
	return w.checkLogin(ctx, w.promisedMajor(), hint)
}

// recordImage keeps what a successful Job has found in the image. It asks the API server,
// once for each image: the cache has no pods that have succeeded.
func (w *work) recordImage(ctx context.Context, live *batchv1.Job) error {
	if image.Found(w.Status, w.Spec.Image.Reference()) != nil || !image.Checks(live, w.Spec.Image.Reference()) {
		return nil
	}
	pods, err := job.Pods(ctx, w.APIReader, live)
	if err != nil {
		return err
	}
	image.Record(w.Pass, pods, job.Containers(live)...)
	return nil
}

// refuseMislabelled keeps an upgrade from beginning if the installed image is known to hold
// another release than its tag says: the phases fit the schema of the tag only.
func (w *work) refuseMislabelled() error {
	found := w.Status.ImageOf(w.Status.InstalledRelease)
	if found == nil || image.Consistent(w.Definition, found) {
		return nil
	}
	return reconcile.TerminalError(vocabulary.ReasonReleaseDiffers, fmt.Errorf(
		"no upgrade begins: %s; set %s to another build of release %s that holds it (its schema is installed in one step, "+
			"so requests may fail meanwhile), and upgrade then",
		image.Describe(w.Definition, found), imageTag, w.Status.InstalledRelease))
}
