package deployinfra

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// registry is where releases are published.
const registry = "ghcr.io/c5c3"

// version returns the version of the release that this checkout becomes.
func version(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(content(t, "VERSION"))
}

// content returns a file of the repository.
func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(outside.File(filepath.Join(root, path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestFluxRequestsThePublishedChartsImagesAndTag compares the tree for Flux with what the script that
// publishes a release pushes, and with the tag that it demands.
func TestFluxRequestsThePublishedChartsImagesAndTag(t *testing.T) {
	want := published(t)
	objects := build(t, "flux-system")
	var got []string
	for _, operator := range operators(t) {
		release := find(t, objects, "HelmRelease", operator+"-operator")
		source := find(t, objects, "HelmRepository", at(release, "spec.chart.spec.sourceRef.name"))
		got = append(got,
			"chart "+at(source, "spec.url")+"/"+at(release, "spec.chart.spec.chart")+":"+at(release, "spec.chart.spec.version"),
			"image "+imageOf(t, operator, at(release, "spec.values.image.tag")))
	}
	tree := find(t, build(t, "flux"), "GitRepository", "forge")
	got = append(got, "tag "+at(tree, "spec.ref.tag")+at(tree, "spec.ref.branch"))
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what Flux asks for is not what a release has (-published +asked for):\n%s", diff)
	}
}

// imageOf returns the image that the chart of an operator runs with the tag in its values.
func imageOf(t *testing.T, operator, tag string) string {
	t.Helper()
	chart := filepath.Join("operators", operator, "helm", operator+"-operator")
	if tag == "" {
		tag = field(t, filepath.Join(chart, "Chart.yaml"), "appVersion")
	}
	return field(t, filepath.Join(chart, "values.yaml"), "image", "repository") + ":" + tag
}

// field returns a field of a file with YAML.
func field(t *testing.T, path string, fields ...string) string {
	t.Helper()
	node, err := yaml.Parse(content(t, path))
	if err != nil {
		t.Fatal(err)
	}
	value, err := node.Pipe(yaml.Lookup(fields...))
	if err != nil || value == nil {
		t.Fatalf("%s has no %s (%v)", path, strings.Join(fields, "."), err)
	}
	return yaml.GetValue(value)
}

// Programs that say what they are asked to push, and have nothing pushed before.
const (
	fakeCrane = "#!/bin/sh\n[ \"$1\" = push ] || exit 1\nfor name; do :; done\necho \"image $name\" >>\"$PUSHED\"\n"
	fakeHelm  = "#!/bin/sh\nname=$(basename \"$2\" .tgz)\necho \"chart $3/${name%-*}:${name##*-}\" >>\"$PUSHED\"\n"
)

// published runs the script that publishes a release, in a repository of its own and with
// files of the names that a release has, and returns what it pushes and under which tag.
func published(t *testing.T) []string {
	t.Helper()
	checkout, files, bin := t.TempDir(), t.TempDir(), t.TempDir()
	version := version(t)
	write(t, filepath.Join(checkout, "VERSION"), version+"\n", 0o600)
	write(t, filepath.Join(checkout, "hack/release/publish.sh"), content(t, "hack/release/publish.sh"), 0o700)
	write(t, filepath.Join(bin, "crane"), fakeCrane, 0o700)
	write(t, filepath.Join(bin, "helm"), fakeHelm, 0o700)
	for _, operator := range operators(t) {
		name := filepath.Join(files, operator+"-operator-"+version)
		write(t, name+".tgz", "a chart", 0o600)
		write(t, name+"/index.json", `{"digest": "sha256:00"}`, 0o600)
		write(t, name+"/blobs/sha256/00", "an index", 0o600)
		run(t, files, nil, "tar", "--directory="+name, "--create", "--file="+name+".oci.tar", ".")
		run(t, files, nil, "rm", "-r", name)
	}
	run(t, files, nil, "sh", "-c", "sha256sum * >sha256sums.txt")
	run(t, checkout, nil, "git", "init", "--quiet")
	run(t, checkout, nil, "git", "add", "--all")
	run(t, checkout, nil, "git", "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=a release")
	run(t, checkout, nil, "git", "tag", "v"+version)
	pushed := filepath.Join(bin, "pushed")
	environment := []string{"BIN=" + bin, "REGISTRY=" + registry, "PUSHED=" + pushed}
	run(t, checkout, environment, "hack/release/publish.sh", files)
	list, err := os.ReadFile(pushed)
	if err != nil {
		t.Fatal(err)
	}
	all := append(strings.Fields(strings.ReplaceAll(string(list), " ", "=")), "tag=v"+version)
	for i := range all {
		all[i] = strings.Replace(all[i], "=", " ", 1)
	}
	slices.Sort(all)
	return all
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs a program, without the configuration of Git on this machine.
func run(t *testing.T, dir string, environment []string, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), append(environment, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}
