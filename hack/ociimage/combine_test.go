package main

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// platforms writes an image for each architecture and returns the flags that
// combine them.
func platforms(t *testing.T, dir string, architectures ...string) []string {
	t.Helper()
	var flags []string
	for _, arch := range architectures {
		archive := filepath.Join(dir, arch+".tar")
		runOK(t, "-o", archive, "-name", testName, "-arch", arch, "-entrypoint", "/manager",
			"-layer", writeTar(t, dir, "etc/hostname", "the same"), "-file", writeFile(t, dir, arch, arch)+":/manager:0755")
		flags = append(flags, "-combine", archive)
	}
	return flags
}

func TestImagesOfSeveralPlatformsBecomeOneArchive(t *testing.T) {
	dir := t.TempDir()
	flags := platforms(t, dir, "amd64", "arm64")
	combined := filepath.Join(dir, "all.tar")
	const name = "ghcr.io/c5c3/keystone-operator:1.2.3"
	runOK(t, append(flags, "-o", combined, "-name", name)...)

	outer := readIndex(t, combined)
	if len(outer.Manifests) != 1 || outer.Manifests[0].Annotations[containerdNameAnnotation] != name {
		t.Fatalf("the archive names %v, want %s alone", outer.Manifests, name)
	}
	index, err := openIndex(t, combined).ImageIndex(outer.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, one := range inner.Manifests {
		img, err := index.Image(one.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkDigests(t, img)
		entries := entriesOf(t, img)
		found[one.Platform.String()] = entries[len(entries)-1].Content
	}
	if diff := cmp.Diff(map[string]string{"linux/amd64": "amd64", "linux/arm64": "arm64"}, found); diff != "" {
		t.Errorf("programs by platform (-want +got):\n%s", diff)
	}
}

func TestArchivesThatDoNotGoTogetherAreRefused(t *testing.T) {
	dir := t.TempDir()
	flags := platforms(t, dir, "amd64")
	none := writeFile(t, dir, "none", "")
	empty := filepath.Join(dir, "empty.tar")
	if err := placeArchive(empty, func(tw *tar.Writer) error { return writeEntry(tw, "index.json", []byte(`{}`)) }); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"one platform twice": {append(flags, flags...), "a second image for linux/amd64"},
		"no archive":         {[]string{"-combine", none}, "no index.json"},
		"no image":           {[]string{"-combine", empty}, "no image with a platform"},
		"files besides":      {append(flags, "-file", none+":/a:0644"), "omit -layer and -file"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(append(c.flags, "-o", filepath.Join(dir, "out.tar"), "-name", testName), os.Stderr)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
