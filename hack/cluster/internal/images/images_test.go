package images

import (
	"archive/tar"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReferencesCarryTheComponentsTags(t *testing.T) {
	set := NewFixedSet("v9")
	got := []string{set.Reference("etcd"), set.Reference("coredns"), set.Reference("nothing"), set.Tag("pause")}
	want := []string{"registry.k8s.io/etcd:v9", "registry.k8s.io/coredns/coredns:v9", "", "v9"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if tag := etcdTag("v3.6.8"); tag != "3.6.8-0" {
		t.Errorf("etcd's tag = %q, want kubeadm's form 3.6.8-0", tag)
	}
}

func TestAVersionIsThatOfTheProgramOrOfWhatItWasBuiltFrom(t *testing.T) {
	info := &debug.BuildInfo{
		Main: debug.Module{Path: "go.etcd.io/etcd/server/v3", Version: "v3.6.8"},
		Deps: []*debug.Module{{Path: "k8s.io/api", Version: "v0.36.3"}, {Path: "k8s.io/kubernetes", Version: "v1.36.3"}},
	}
	for module, want := range map[string]string{
		"go.etcd.io/etcd/server/v3": "v3.6.8",
		"k8s.io/kubernetes":         "v1.36.3",
		"example.com/other":         "",
	} {
		if got := versionIn(info, module); got != want {
			t.Errorf("versionIn(%s) = %q, want %q", module, got, want)
		}
	}
}

func TestABinaryOfAnotherModuleIsRefused(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moduleVersion(self, "example.com/other"); err == nil || !strings.Contains(err.Error(), "example.com/other") {
		t.Errorf("moduleVersion() = %v, want an error that names the module", err)
	}
}

// fakeTools fills a folder with components and an ociimage that records its
// calls and writes the file after -o.
func fakeTools(t *testing.T) (Builder, func() int) {
	t.Helper()
	dir := t.TempDir()
	b := Builder{Tools: filepath.Join(dir, "bin"), Rootfs: filepath.Join(dir, "rootfs"), Out: filepath.Join(dir, "out")}
	calls := filepath.Join(dir, "calls")
	write(t, filepath.Join(b.Tools, "ociimage"), fmt.Sprintf(`#!/bin/sh
echo call >> %s
while [ "$1" != -o ]; do shift; done
echo image > "$2"
`, calls))
	for _, c := range components {
		write(t, filepath.Join(b.Tools, c.name), "binary")
	}
	write(t, filepath.Join(b.Rootfs, "kube-proxy.tar"), "rootfs")
	return b, func() int {
		data, _ := os.ReadFile(calls)
		return strings.Count(string(data), "call\n")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

func TestImagesAreBuiltOnlyWhenTheirInputsChange(t *testing.T) {
	b, calls := fakeTools(t)
	steps := []struct {
		name   string
		change func()
		tag    string
		want   []string
	}{
		{"at first all of them", func() {}, "v1", allNames()},
		{"then none", func() {}, "v1", nil},
		{"a new binary", func() { touch(t, filepath.Join(b.Tools, "etcd")) }, "v1", []string{"etcd"}},
		{"a new root file system", func() { touch(t, filepath.Join(b.Rootfs, "kube-proxy.tar")) }, "v1", []string{"kube-proxy"}},
		{"an archive that was lost", func() { _ = os.Remove(filepath.Join(b.Out, "pause.tar")) }, "v1", []string{"pause"}},
		{"another tag", func() {}, "v2", allNames()},
	}
	total := 0
	for _, step := range steps {
		step.change()
		built, err := b.Build(t.Context(), NewFixedSet(step.tag))
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, built); diff != "" {
			t.Errorf("%s: built (-want +got):\n%s", step.name, diff)
		}
		total += len(step.want)
		for _, name := range allNames() {
			settle(t, filepath.Join(b.Tools, name))
		}
		settle(t, filepath.Join(b.Rootfs, "kube-proxy.tar"))
	}
	if calls() != total {
		t.Errorf("ociimage ran %d times, want %d", calls(), total)
	}
}

func allNames() []string {
	names := make([]string, 0, len(components))
	for _, c := range components {
		names = append(names, c.name)
	}
	return names
}

func touch(t *testing.T, path string) {
	t.Helper()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
}

// settle puts an input's time before that of the archive made from it.
func settle(t *testing.T, path string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

func TestAMissingInputIsNamed(t *testing.T) {
	b, calls := fakeTools(t)
	missing := filepath.Join(b.Tools, "coredns")
	if err := os.Remove(missing); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), NewFixedSet("v1")); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("Build() = %v, want an error that names %s", err, missing)
	}
	if calls() != 0 {
		t.Errorf("ociimage ran %d times, want no build that outlives the error", calls())
	}
}

// archive writes an OCI archive's index for one image.
func archive(t *testing.T, name, digest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	index := fmt.Sprintf(`{"manifests":[{"digest":%q,"annotations":{"io.containerd.image.name":%q}}]}`, digest, name)
	w := tar.NewWriter(file)
	for _, entry := range []struct{ name, content string }{{"oci-layout", "{}"}, {"index.json", index}} {
		if err := w.WriteHeader(&tar.Header{Name: entry.name, Mode: 0o644, Size: int64(len(entry.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(entry.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOnlyArchivesWithNewDigestsAreImported(t *testing.T) {
	known := archive(t, "docker.io/a:1", "sha256:aaa")
	changed := archive(t, "docker.io/b:1", "sha256:new")
	unknown := archive(t, "docker.io/c:1", "sha256:ccc")
	imports := filepath.Join(t.TempDir(), "imports")
	ctr := func(ctx context.Context, args ...string) *exec.Cmd {
		if args[1] == "list" {
			return exec.CommandContext(ctx, "/bin/echo", "REF TYPE DIGEST SIZE\n"+
				"docker.io/a:1 application/vnd.oci.image.manifest.v1+json sha256:aaa 1 MiB\n"+
				"docker.io/b:1 application/vnd.oci.image.manifest.v1+json sha256:old 1 MiB")
		}
		return exec.CommandContext(ctx, "/bin/sh", "-c", "cat >/dev/null && echo import >> "+imports)
	}
	imported, err := Load(t.Context(), ctr, []string{known, changed, unknown})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(imports)
	if err != nil || imported != 2 || strings.Count(string(data), "import") != 2 {
		t.Errorf("Load() = %d, and ctr ran %q, %v; want two imports", imported, data, err)
	}
}

func TestAFailedImportReportsWhy(t *testing.T) {
	ctr := func(ctx context.Context, args ...string) *exec.Cmd {
		if args[1] == "list" {
			return exec.CommandContext(ctx, "/bin/true")
		}
		return exec.CommandContext(ctx, "/bin/sh", "-c", "echo no space left >&2; exit 1")
	}
	path := archive(t, "docker.io/a:1", "sha256:aaa")
	_, err := Load(t.Context(), ctr, []string{path})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Load() = %v, want the archive's path and ctr's words", err)
	}
}

func TestAFileThatIsNoArchiveIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise.tar")
	write(t, path, strings.Repeat("noise", 500))
	if _, err := contents(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("contents() = %v, want an error that names the file", err)
	}
}

func TestAnArchiveWithoutNamedImagesIsAlwaysImported(t *testing.T) {
	if contains(map[string]string{"a": "sha256:a"}, nil) {
		t.Error("an archive without names counts as present")
	}
}
