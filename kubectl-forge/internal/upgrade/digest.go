package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// NoDigest is what removes a digest.
const NoDigest = "none"

// ParseDigests reads digests as the user gives them, each with the service it is for if there
// are several: "keystone=sha256:...". The result is by the name of the service, "" for none.
func ParseDigests(given []string) (map[string]string, error) {
	digests := map[string]string{}
	for _, value := range given {
		name, digest, named := strings.Cut(value, "=")
		if !named {
			name, digest = "", value
		}
		if _, twice := digests[name]; twice {
			return nil, fmt.Errorf("%s gives a second digest for the same service", value)
		}
		switch {
		case digest == NoDigest:
			digest = ""
		case !commonv1.IsDigest(digest):
			return nil, fmt.Errorf("%q is not a digest: it is sha256: and 64 hexadecimal digits in lower case, or %s", digest, NoDigest)
		}
		digests[strings.ToLower(name)] = digest
	}
	return digests, nil
}

// images returns the images in the spec of the target, by the name of the service.
func (f Facts) images() map[string]commonv1.ImageSpec {
	images := map[string]commonv1.ImageSpec{}
	if f.ControlPlane == nil {
		for _, service := range f.Services {
			images[fieldOf(service)] = service.ServiceSpec().Image
		}
		return images
	}
	var services map[string]struct {
		Image *commonv1.ImageSpec `json:"image"`
	}
	encoded, err := json.Marshal(f.ControlPlane.Spec.Services)
	if err != nil || json.Unmarshal(encoded, &services) != nil {
		return images
	}
	for name, service := range services {
		if service.Image != nil {
			images[name] = *service.Image
		}
	}
	return images
}

// withDigests adds to the change the digests that belong to its tags. It is an error if an
// image has a digest and the user has not said what becomes of it: it is that of the old tag.
func (c Change) withDigests(f Facts) (Change, error) {
	images := f.images()
	given, err := f.digestsOf(images)
	if err != nil {
		return Change{}, err
	}
	c.Digests = given
	for _, name := range slices.Sorted(maps.Keys(images)) {
		image, tag := images[name], c.tagOf(name)
		if _, said := given[name]; said || image.Digest == "" || image.Tag == tag {
			continue
		}
		value := "sha256:..."
		if len(images) > 1 {
			value = name + "=" + value
		}
		return Change{}, fmt.Errorf("%s.digest is that of %s: give that of %s with --digest %s, or remove it with --digest %s",
			f.imageField(name), image.Tag, tag, value, strings.Replace(value, "sha256:...", NoDigest, 1))
	}
	return c, nil
}

// digestsOf returns the digests that the user gives, by the name of the service. One without
// a service is for the only image, or the only one that has a digest.
func (f Facts) digestsOf(images map[string]commonv1.ImageSpec) (map[string]string, error) {
	digests := maps.Clone(f.Digests)
	if digest, unnamed := digests[""]; unnamed {
		names := slices.Sorted(maps.Keys(images))
		if len(names) > 1 {
			names = slices.DeleteFunc(names, func(name string) bool { return images[name].Digest == "" })
		}
		if len(names) != 1 {
			return nil, errors.New("say of which service --digest is, such as keystone=sha256:<64 hexadecimal digits>")
		}
		delete(digests, "")
		digests[names[0]] = digest
	}
	for name := range digests {
		if _, has := images[name]; !has {
			return nil, fmt.Errorf("--digest is for %s, whose image %s does not set", name, f.Target().Arg())
		}
	}
	return digests, nil
}

// digest returns the digest of the image that the service gets, "" for none.
func (p *preflight) digest(service inventory.Instance) string {
	if digest, changes := p.change.Digests[fieldOf(service)]; changes {
		return digest
	}
	return p.images()[fieldOf(service)].Digest
}

// imageField returns the field with the image of the service.
func (f Facts) imageField(name string) string {
	if f.ControlPlane == nil {
		return "spec.image"
	}
	return "spec.services." + name + ".image"
}

// installedDigests returns the digests that the images in the spec have to get for the
// installed releases, nil if they have them.
func (f Facts) installedDigests() map[string]string {
	var digests map[string]string
	images := f.images()
	for _, service := range f.Services {
		name := fieldOf(service)
		installed := installedDigest(service.ServiceStatus())
		if image, set := images[name]; set && image.Digest != installed {
			if digests == nil {
				digests = map[string]string{}
			}
			digests[name] = installed
		}
	}
	return digests
}

// installedDigest returns the digest of the installed release, as the status records it, "" if
// it has none.
func installedDigest(status *commonv1.ServiceStatus) string {
	if image := status.ImageOf(status.InstalledRelease); image != nil {
		return commonv1.DigestOf(image.Reference)
	}
	return ""
}
