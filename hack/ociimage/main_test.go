package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

const testName = "ghcr.io/c5c3/keystone-operator:dev"

func TestAnArchiveIsAValidImageInEveryCompression(t *testing.T) {
	for _, comp := range []string{compressZstd, compressGzip, compressNone} {
		t.Run(comp, func(t *testing.T) {
			dir := t.TempDir()
			archive := filepath.Join(dir, "image.tar")
			runOK(t, "-o", archive, "-name", testName, "-compress", comp,
				"-layer", writeTar(t, dir, "etc/hostname", "base"),
				"-file", writeFile(t, dir, "manager", "binary")+":/manager:0755")

			img := openArchive(t, archive)
			checkDigests(t, img)
			want := []entry{
				{Name: "etc/hostname", Mode: 0o644, Content: "base"},
				{Name: "manager", Mode: 0o755, Content: "binary"},
			}
			if diff := cmp.Diff(want, entriesOf(t, img)); diff != "" {
				t.Errorf("files of the image (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlagsReachTheImageConfig(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "image.tar")
	runOK(t, "-o", archive, "-name", testName,
		"-file", writeFile(t, dir, "a", "a")+":/a:0644",
		"-env", "PATH=/bin", "-env", "EMPTY=", "-user", "42424:42424", "-workdir", "/var/lib/openstack",
		"-entrypoint", "/manager", "-entrypoint", "--flag", "-cmd", "serve", "-cmd", "-v",
		"-label", "org.opencontainers.image.title=keystone", "-arch", "arm64")

	config, err := openArchive(t, archive).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != "arm64" {
		t.Errorf("platform = %s/%s, want linux/arm64", config.OS, config.Architecture)
	}
	want := v1.Config{
		User:       "42424:42424",
		Env:        []string{"PATH=/bin", "EMPTY="},
		Entrypoint: []string{"/manager", "--flag"},
		Cmd:        []string{"serve", "-v"},
		WorkingDir: "/var/lib/openstack",
		Labels:     map[string]string{"org.opencontainers.image.title": "keystone"},
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestEveryNameLeadsToTheSameImage(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "image.tar")
	names := []string{"ghcr.io/c5c3/keystone:2025.2", "localhost:5000/keystone:2025.2-upgraded"}
	runOK(t, "-o", archive, "-name", names[0], "-name", names[1],
		"-file", writeFile(t, dir, "a", "a")+":/a:0644")

	manifests := readIndex(t, archive).Manifests
	if len(manifests) != len(names) {
		t.Fatalf("index has %d entries, want %d", len(manifests), len(names))
	}
	for i, tag := range []string{"2025.2", "2025.2-upgraded"} {
		want := map[string]string{
			"io.containerd.image.name":          names[i],
			"org.opencontainers.image.ref.name": tag,
		}
		if diff := cmp.Diff(want, manifests[i].Annotations); diff != "" {
			t.Errorf("annotations of entry %d (-want +got):\n%s", i, diff)
		}
		if manifests[i].Digest != manifests[0].Digest {
			t.Errorf("entry %d has digest %s, want %s", i, manifests[i].Digest, manifests[0].Digest)
		}
	}
}

func TestEqualInputsGiveEqualArchivesAtAnyTime(t *testing.T) {
	dir := t.TempDir()
	src := writeFile(t, dir, "manager", "binary")
	other := writeFile(t, dir, "ca.crt", "certificate")
	first, second := filepath.Join(dir, "1.tar"), filepath.Join(dir, "2.tar")

	runOK(t, "-o", first, "-name", testName, "-label", "a=1", "-label", "b=2",
		"-file", src+":/bin/manager:0755", "-file", other+":/etc/ssl/ca.crt:0644")
	later := time.Now().Add(48 * time.Hour)
	if err := os.Chtimes(src, later, later); err != nil {
		t.Fatal(err)
	}
	runOK(t, "-o", second, "-name", testName, "-label", "b=2", "-label", "a=1",
		"-file", other+":/etc/ssl/ca.crt:0644", "-file", src+":/bin/manager:0755")

	if !bytes.Equal(readFile(t, first), readFile(t, second)) {
		t.Error("two builds of the same inputs differ")
	}
}

func TestFilesBringTheirParentDirectoriesOnce(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "image.tar")
	src := writeFile(t, dir, "a", "a")
	runOK(t, "-o", archive, "-name", testName,
		"-file", src+":/usr/bin/a:0755", "-file", src+":/usr/bin/b:0755", "-file", src+":/usr/lib/c:0644")

	want := []entry{
		{Name: "usr/", Mode: 0o755},
		{Name: "usr/bin/", Mode: 0o755},
		{Name: "usr/bin/a", Mode: 0o755, Content: "a"},
		{Name: "usr/bin/b", Mode: 0o755, Content: "a"},
		{Name: "usr/lib/", Mode: 0o755},
		{Name: "usr/lib/c", Mode: 0o644, Content: "a"},
	}
	if diff := cmp.Diff(want, entriesOf(t, openArchive(t, archive))); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
}

func TestAnEqualLayerIsStoredOnce(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "image.tar")
	layer := writeTar(t, dir, "a", "a")
	runOK(t, "-o", archive, "-name", testName, "-layer", layer, "-layer", layer)

	seen := map[string]bool{}
	eachEntry(t, bytes.NewReader(readFile(t, archive)), func(h *tar.Header, _ io.Reader) {
		if seen[h.Name] {
			t.Errorf("%s is in the archive twice", h.Name)
		}
		seen[h.Name] = true
	})
}

func TestWrongFlagsAreRefusedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	src := writeFile(t, dir, "a", "not a tar file")
	tests := map[string]struct {
		args []string
		want string
	}{
		"no name":              {[]string{"-file", src + ":/a:0644"}, "no image name"},
		"no content":           {[]string{"-name", testName}, "without content"},
		"name without host":    {[]string{"-name", "mariadb:10.11", "-file", src + ":/a:0644"}, "full reference"},
		"name without tag":     {[]string{"-name", "ghcr.io/c5c3/keystone", "-file", src + ":/a:0644"}, "full reference"},
		"file without mode":    {[]string{"-name", testName, "-file", src + ":/a"}, "src:dst:mode"},
		"mode not octal":       {[]string{"-name", testName, "-file", src + ":/a:rwx"}, "octal"},
		"relative destination": {[]string{"-name", testName, "-file", src + ":a:0644"}, "absolute path"},
		"missing source":       {[]string{"-name", testName, "-file", src + "-gone:/a:0644"}, "no such file"},
		"directory as source":  {[]string{"-name", testName, "-file", dir + ":/a:0644"}, "not a regular file"},
		"one destination, two": {[]string{"-name", testName, "-file", src + ":/a:0644", "-file", src + ":/a:0755"}, "two files for /a"},
		"layer is no tar file": {[]string{"-name", testName, "-layer", src}, "not an uncompressed tar file"},
		"user by name":         {[]string{"-name", testName, "-file", src + ":/a:0644", "-user", "openstack"}, "must be numeric"},
		"environment no value": {[]string{"-name", testName, "-file", src + ":/a:0644", "-env", "PATH"}, "NAME=value"},
		"label without value":  {[]string{"-name", testName, "-file", src + ":/a:0644", "-label", "x"}, "key=value"},
		"unknown compression":  {[]string{"-name", testName, "-file", src + ":/a:0644", "-compress", "xz"}, "unknown compression"},
		"stray argument":       {[]string{"-name", testName, "-file", src + ":/a:0644", "stray"}, "unexpected argument"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			archive := filepath.Join(dir, "refused.tar")
			err := run(append([]string{"-o", archive}, tc.args...), io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*refused.tar*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	t.Run("no output", func(t *testing.T) {
		err := run([]string{"-name", testName, "-file", src + ":/a:0644"}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "-o") {
			t.Errorf("error = %v, want one that names -o", err)
		}
	})
}

// entry is one member of a layer as the tests compare it.
type entry struct {
	Name    string
	Mode    int64
	Content string
}

func runOK(t *testing.T, args ...string) {
	t.Helper()
	if err := run(args, io.Discard); err != nil {
		t.Fatalf("ociimage %s: %v", strings.Join(args, " "), err)
	}
}

func writeFile(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func writeTar(t *testing.T, dir, name, content string) string {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))})
	_, werr := io.WriteString(tw, content)
	if err := errors.Join(err, werr, tw.Close()); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, "layer.tar", buf.String())
}

// openArchive reads the one image of an archive back.
func openArchive(t *testing.T, archive string) v1.Image {
	t.Helper()
	img, err := openIndex(t, archive).Image(readIndex(t, archive).Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// openIndex unpacks the archive and reads it back with the image library's own
// reader of OCI layouts.
func openIndex(t *testing.T, archive string) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	eachEntry(t, bytes.NewReader(readFile(t, archive)), func(h *tar.Header, r io.Reader) {
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		content, err := io.ReadAll(r)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func readIndex(t *testing.T, archive string) v1.IndexManifest {
	t.Helper()
	var index v1.IndexManifest
	eachEntry(t, bytes.NewReader(readFile(t, archive)), func(h *tar.Header, r io.Reader) {
		if h.Name != "index.json" {
			return
		}
		if err := json.NewDecoder(r).Decode(&index); err != nil {
			t.Fatal(err)
		}
	})
	if len(index.Manifests) == 0 {
		t.Fatal("archive has no index.json with an image")
	}
	return index
}

// checkDigests compares every layer with what the manifest and the config say
// about it, as a container runtime does on import.
func checkDigests(t *testing.T, img v1.Image) {
	t.Helper()
	layers, err := img.Layers()
	config, cerr := img.ConfigFile()
	if err := errors.Join(err, cerr); err != nil {
		t.Fatal(err)
	}
	if len(layers) != len(config.RootFS.DiffIDs) {
		t.Fatalf("%d layers, but %d diff IDs", len(layers), len(config.RootFS.DiffIDs))
	}
	for i, layer := range layers {
		stored, err := layer.Compressed()
		plain, perr := layer.Uncompressed()
		digest, derr := layer.Digest()
		if err := errors.Join(err, perr, derr); err != nil {
			t.Fatal(err)
		}
		if got := sha256Of(t, stored); got != digest {
			t.Errorf("layer %d is stored as %s, the manifest says %s", i, got, digest)
		}
		if got := sha256Of(t, plain); got != config.RootFS.DiffIDs[i] {
			t.Errorf("layer %d unpacks to %s, the config says %s", i, got, config.RootFS.DiffIDs[i])
		}
	}
}

func sha256Of(t *testing.T, r io.ReadCloser) v1.Hash {
	t.Helper()
	hash, _, err := v1.SHA256(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return hash
}

func entriesOf(t *testing.T, img v1.Image) []entry {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		eachEntry(t, content, func(h *tar.Header, r io.Reader) {
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, entry{Name: h.Name, Mode: h.Mode, Content: string(data)})
		})
		if err := content.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return entries
}

func eachEntry(t *testing.T, archive io.Reader, visit func(*tar.Header, io.Reader)) {
	t.Helper()
	for tr := tar.NewReader(archive); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(header, tr)
	}
}
