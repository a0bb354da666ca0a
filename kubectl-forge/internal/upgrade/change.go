package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// Change is a change of the release in the spec of a target.
type Change struct {
	// Release is the release of a ControlPlane, which all services have but those in
	// Tags, or that of a service that belongs to none.
	Release string
	// Tags are the tags of the images that the user has set on the ControlPlane, by the
	// name of the service.
	Tags map[string]string
	// Digests are the digests that images get with their tags, by the name of the service.
	// "" removes one.
	Digests map[string]string
}

// Tag returns the image tag that the service gets.
func (c Change) Tag(service inventory.Instance) string { return c.tagOf(fieldOf(service)) }

func (c Change) tagOf(name string) string {
	if tag, own := c.Tags[name]; own {
		return tag
	}
	return c.Release
}

// String returns the release, and the tags that differ from it.
func (c Change) String() string {
	texts := []string{c.Release}
	for _, name := range slices.Sorted(maps.Keys(c.Tags)) {
		if c.Tags[name] != c.Release {
			texts = append(texts, name+" "+c.Tags[name])
		}
	}
	return strings.Join(texts, ", ")
}

// fieldOf returns the name of the service in spec.services of a ControlPlane.
func fieldOf(service inventory.Instance) string { return strings.ToLower(service.Of.Kind) }

// Upgrade returns the change to the release. A release alone is that of all services. One with a suffix, such as
// 2026.1-fixed, is a build of one image, which the user has set on the ControlPlane; it is an error if there is none, or
// if it is not clear which, or if an image has the digest of its old tag.
func Upgrade(f Facts, to string) (Change, error) {
	change, err := f.upgrade(to)
	if err != nil {
		return change, err
	}
	return change.withDigests(f)
}

func (f Facts) upgrade(to string) (Change, error) {
	target, err := release.Parse(to)
	if err != nil || f.ControlPlane == nil {
		return Change{Release: to}, err
	}
	tags := f.tags()
	if target.Suffix == "" {
		for name := range tags {
			tags[name] = to
		}
		return Change{Release: to, Tags: tags}, nil
	}
	name, err := f.builtByUser(to, tags)
	if err != nil {
		return Change{}, err
	}
	tags[name] = to
	series, _, _ := strings.Cut(to, "-")
	return Change{Release: series, Tags: tags}, nil
}

// builtByUser returns the service that the build of an image is of.
func (f Facts) builtByUser(build string, tags map[string]string) (name string, err error) {
	var fields, own []string
	for _, service := range f.Services {
		field := fieldOf(service)
		if f.Named == "" || f.Named == field {
			fields = append(fields, "spec.services."+field+".image")
		}
		if _, isOwn := tags[field]; isOwn && (f.Named == "" || f.Named == field) {
			name, own = field, append(own, service.Ref().Arg())
		}
	}
	switch {
	case len(own) == 0:
		return "", fmt.Errorf("%s is a build of one service's image: first set %s of ControlPlane %s to the image that is installed",
			build, strings.Join(fields, " or "), f.ControlPlane.Name)
	case len(own) > 1:
		return "", fmt.Errorf("%s is a build of one service's image, and ControlPlane %s sets several: specify the service, %s",
			build, f.ControlPlane.Name, strings.Join(own, " or "))
	}
	return name, nil
}

// tags returns the tags of the images that the user has set on the ControlPlane, by the name
// of the service.
func (f Facts) tags() map[string]string {
	tags := map[string]string{}
	if f.ControlPlane == nil {
		return tags
	}
	for name, image := range f.images() {
		tags[name] = image.Tag
	}
	return tags
}

// requestsOffline reports whether an offline upgrade of the service to the tag is requested.
// The request of a ControlPlane is for its release, and for each build of that.
func (f Facts) requestsOffline(service inventory.Instance, tag string) bool {
	if f.ControlPlane == nil {
		return service.GetAnnotations()[commonv1.AnnotationOfflineUpgrade] == tag
	}
	series, _, _ := strings.Cut(tag, "-")
	return f.ControlPlane.Annotations[commonv1.AnnotationOfflineUpgrade] == series
}

// asked is the image tag that the spec of the target asks for.
func (f Facts) asked(service inventory.Instance) string {
	if f.ControlPlane == nil {
		return service.ServiceSpec().Image.Tag
	}
	return Change{Release: f.ControlPlane.Spec.OpenStackRelease, Tags: f.tags()}.Tag(service)
}

// Abort returns the change back to the installed release, with its digest if the status knows
// one. It is an error if that is not possible.
func Abort(f Facts) (Change, error) {
	change, progress, own := Change{Tags: map[string]string{}, Digests: f.installedDigests()}, false, f.tags()
	for _, service := range f.Services {
		status := service.ServiceStatus()
		installed := status.InstalledRelease
		if change.Release == "" {
			change.Release = installed
		}
		switch {
		case installed == "":
			return Change{}, errors.New("no release is installed yet, so there is none to roll back to")
		case status.UpgradePhase.IsFinal():
			return Change{}, fmt.Errorf("the upgrade to %s is in phase %s and can no longer be rolled back: "+
				"the schema no longer fits %s", status.TargetRelease, status.UpgradePhase, installed)
		case !inventory.SameRelease(change.Release, installed):
			ref := service.Ref()
			return Change{}, fmt.Errorf("%s has release %s already, and a schema cannot be downgraded: %s has to follow it; "+
				"correct what blocks it, such as its image; see \"kubectl forge status %s -n %s\"",
				f.Services[0].Ref().Arg(), change.Release, ref.Arg(), ref.Arg(), ref.Namespace)
		}
		if _, isOwn := own[fieldOf(service)]; isOwn {
			change.Tags[fieldOf(service)] = installed
		}
		progress = progress || status.TargetRelease != "" || f.asked(service) != installed
	}
	if f.ControlPlane != nil {
		change.Release, _, _ = strings.Cut(change.Release, "-")
	}
	if !progress {
		return Change{}, fmt.Errorf("no upgrade is in progress: %s is installed and requested", change)
	}
	return change, nil
}

// Patch returns the merge patch that makes the change in the spec of the target. The
// services of a ControlPlane follow it.
func Patch(f Facts, change Change) ([]byte, error) {
	image := func(name, tag string) map[string]any {
		fields := map[string]any{"tag": tag}
		switch digest, changes := change.Digests[name]; {
		case digest != "":
			fields["digest"] = digest
		case changes:
			fields["digest"] = nil
		}
		return map[string]any{"image": fields}
	}
	if f.ControlPlane == nil {
		return json.Marshal(map[string]any{"spec": image(fieldOf(f.Services[0]), change.Release)})
	}
	spec, services := map[string]any{"openStackRelease": change.Release}, map[string]any{}
	for name, tag := range change.Tags {
		services[name] = image(name, tag)
		spec["services"] = services
	}
	return json.Marshal(map[string]any{"spec": spec})
}
