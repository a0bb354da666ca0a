// Package images builds the images of the cluster's own components from
// their binaries and loads images into a node, without any registry.
package images

import (
	"debug/buildinfo"
	"fmt"
	"path/filepath"
)

// component is one image of the cluster itself.
type component struct {
	// name is the name of the binary and of the image.
	name       string
	repository string
	// module is the module whose version is the image's tag, empty for a
	// program of this module.
	module string
	// tag derives the tag from the module's version.
	tag func(version string) string
	// rootfs names the root file system below the binary, if it needs one.
	rootfs string
}

func asIs(version string) string { return version }

// kubeadm's etcd tags have no leading v and end in the number of the image's
// build.
func etcdTag(version string) string { return version[1:] + "-0" }

// ownTag is for images of this module, which come with the checkout.
func ownTag(string) string { return "dev" }

var components = []component{
	{name: "kube-apiserver", repository: "registry.k8s.io/kube-apiserver", module: "k8s.io/kubernetes", tag: asIs},
	{name: "kube-controller-manager", repository: "registry.k8s.io/kube-controller-manager", module: "k8s.io/kubernetes", tag: asIs},
	{name: "kube-scheduler", repository: "registry.k8s.io/kube-scheduler", module: "k8s.io/kubernetes", tag: asIs},
	{name: "kube-proxy", repository: "registry.k8s.io/kube-proxy", module: "k8s.io/kubernetes", tag: asIs, rootfs: "kube-proxy.tar"},
	{name: "etcd", repository: "registry.k8s.io/etcd", module: "go.etcd.io/etcd/server/v3", tag: etcdTag},
	{name: "coredns", repository: "registry.k8s.io/coredns/coredns", module: "github.com/coredns/coredns", tag: asIs},
	{
		name: "local-path-provisioner", repository: "docker.io/rancher/local-path-provisioner",
		module: "github.com/rancher/local-path-provisioner", tag: asIs,
	},
	{name: "pause", repository: "ghcr.io/c5c3/forge-pause", tag: ownTag},
	{name: "volume-helper", repository: "ghcr.io/c5c3/forge-volume-helper", tag: ownTag},
}

// Set holds the references of all components' images.
type Set struct {
	tags map[string]string
}

// NewSet reads the components' versions from their binaries in dir.
func NewSet(dir string) (Set, error) {
	tags := map[string]string{}
	for _, c := range components {
		version := ""
		if c.module != "" {
			var err error
			if version, err = moduleVersion(filepath.Join(dir, c.name), c.module); err != nil {
				return Set{}, err
			}
		}
		tags[c.name] = c.tag(version)
	}
	return Set{tags: tags}, nil
}

// NewFixedSet gives every component the same tag, regardless of its binary.
func NewFixedSet(tag string) Set {
	tags := map[string]string{}
	for _, c := range components {
		tags[c.name] = tag
	}
	return Set{tags: tags}
}

// Tag returns the tag of a component's image.
func (s Set) Tag(name string) string { return s.tags[name] }

// Reference returns the full name of a component's image, empty for a component
// that does not exist.
func (s Set) Reference(name string) string {
	for _, c := range components {
		if c.name == name {
			return c.repository + ":" + s.tags[name]
		}
	}
	return ""
}

// moduleVersion reads the version of a module from a binary built from it.
func moduleVersion(binary, module string) (string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", fmt.Errorf("reading the version of %s: %w", binary, err)
	}
	version := versionIn(info, module)
	if version == "" {
		return "", fmt.Errorf("%s was not built from module %s", binary, module)
	}
	return version, nil
}

// versionIn returns the version of a module that a binary was built from, "" if it does
// not contain it.
func versionIn(info *buildinfo.BuildInfo, module string) string {
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return ""
}
