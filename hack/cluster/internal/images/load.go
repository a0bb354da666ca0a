package images

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// nameAnnotation carries an image's reference in an archive's index.
const nameAnnotation = "io.containerd.image.name"

// parallelImports keeps one import reading while another one writes.
const parallelImports = 2

// Runner returns a command that runs a tool next to containerd.
type Runner func(ctx context.Context, args ...string) *exec.Cmd

// Load imports archives into containerd and returns how many it imported.
// Archives whose images are all present with the same digest are
// skipped. ctr runs the containerd client.
func Load(ctx context.Context, ctr Runner, archives []string) (int, error) {
	present, err := list(ctx, ctr)
	if err != nil {
		return 0, err
	}
	missing, err := missingIn(present, archives)
	if err != nil {
		return 0, err
	}
	return len(missing), importAll(ctx, ctr, missing)
}

func importAll(ctx context.Context, ctr Runner, archives []string) error {
	var (
		errs  = make([]error, len(archives))
		slots = make(chan struct{}, parallelImports)
		wait  sync.WaitGroup
	)
	for i, archive := range archives {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = importArchive(ctx, ctr, archive)
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// missingIn returns the archives of which an image is not present.
func missingIn(present map[string]string, archives []string) (missing []string, err error) {
	for _, archive := range archives {
		wanted, err := contents(archive)
		if err != nil {
			return nil, err
		}
		if !contains(present, wanted) {
			missing = append(missing, archive)
		}
	}
	return missing, nil
}

// list returns the digests of the images in the node by name.
func list(ctx context.Context, ctr Runner) (map[string]string, error) {
	cmd := ctr(ctx, "images", "list")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the node's images: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return parseList(string(out)), nil
}

// parseList reads ctr's table of images: reference, type, digest and more.
func parseList(table string) map[string]string {
	digests := map[string]string{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > 2 && strings.HasPrefix(fields[2], "sha256:") {
			digests[fields[0]] = fields[2]
		}
	}
	return digests
}

// contents returns the digests of an archive's images by their references,
// none if it is not an OCI archive with named images.
func contents(archive string) (map[string]string, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := tar.NewReader(file)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not an image archive: %w", archive, err)
		}
		if strings.TrimPrefix(header.Name, "./") == "index.json" {
			return parseIndex(reader)
		}
	}
}

// parseIndex returns the digests of the images in an archive's index by name.
func parseIndex(r io.Reader) (map[string]string, error) {
	var index struct {
		Manifests []struct {
			Digest      string            `json:"digest"`
			Annotations map[string]string `json:"annotations"`
		} `json:"manifests"`
	}
	if err := json.NewDecoder(r).Decode(&index); err != nil {
		return nil, fmt.Errorf("reading the archive's index: %w", err)
	}
	digests := map[string]string{}
	for _, manifest := range index.Manifests {
		if name := manifest.Annotations[nameAnnotation]; name != "" {
			digests[name] = manifest.Digest
		}
	}
	return digests, nil
}

// contains reports whether all wanted images are present with the same digest.
func contains(present, wanted map[string]string) bool {
	for name, digest := range wanted {
		if present[name] != digest {
			return false
		}
	}
	return len(wanted) > 0
}

// importArchive passes the archive as a stream, since the node does not
// see the host's files.
func importArchive(ctx context.Context, ctr Runner, archive string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := ctr(ctx, "images", "import", "-")
	cmd.Stdin = file
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("importing %s: %w: %s", archive, err, strings.TrimSpace(string(output)))
	}
	return nil
}
