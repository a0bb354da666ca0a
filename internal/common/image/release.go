package image

import (
	"context"
	"fmt"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Reconcile compares the release that the image of the spec holds with its tag. It only
// informs, and owns ReleaseConsistent.
func Reconcile(_ context.Context, p *service.Pass) reconcile.Outcome {
	found := Found(p.Status, p.Spec.Image.Reference())
	switch {
	case found == nil:
		return reconcile.Done(vocabulary.ReasonReleaseUnknown,
			"The version in the image is unknown until a Job uses the image to install or upgrade the database schema")
	case !Consistent(p.Definition, found):
		return reconcile.Degraded(vocabulary.ReasonReleaseDiffers,
			Describe(p.Definition, found)+"; correct the tag or the image, no upgrade begins before")
	}
	if _, _, known := releases(p.Definition, found); !known {
		return reconcile.Done(vocabulary.ReasonReleaseUnknown, Describe(p.Definition, found))
	}
	return reconcile.Done(vocabulary.ReasonReleaseMatches, Describe(p.Definition, found))
}

// Consistent reports whether the image may hold the release that its tag says. It is false
// only if both are known and differ.
func Consistent(d *service.Definition, found *commonv1.ImageStatus) bool {
	held, promised, known := releases(d, found)
	return !known || held.SameRelease(promised)
}

// Describe says what the image holds.
func Describe(d *service.Definition, found *commonv1.ImageStatus) string {
	version := found.Version
	if version == "" {
		version = "an unknown version"
	}
	text := fmt.Sprintf("image %s holds %s of %s", found.Reference, version, d.Kind)
	if held, known := d.Application.Majors.ReleaseOf(found.Version); known {
		return text + ", release " + held.String()
	}
	return text + ", whose release is not known to this operator"
}

// releases returns the release that the image holds and the one that its tag says. They are
// known if both are.
func releases(d *service.Definition, found *commonv1.ImageStatus) (held, promised release.Release, known bool) {
	held, known = d.Application.Majors.ReleaseOf(found.Version)
	promised, err := release.Parse(commonv1.TagOf(found.Reference))
	return held, promised, known && err == nil
}
