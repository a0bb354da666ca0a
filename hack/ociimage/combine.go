package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layoutFiles are the files that every archive has in addition to its blobs.
var layoutFiles = map[string]bool{"oci-layout": true, "index.json": true}

// combine writes one archive with the images of several archives, each for a different
// platform, under a common name.
func combine(out string, archives, names []string) error {
	inner := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	seen := map[string]bool{}
	for _, path := range archives {
		image, err := imageIn(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		platform := image.Platform.String()
		if seen[platform] {
			return fmt.Errorf("%s: a second image for %s", path, platform)
		}
		seen[platform] = true
		image.Annotations = nil
		inner.Manifests = append(inner.Manifests, *image)
	}
	index, err := json.Marshal(inner)
	if err != nil {
		return err
	}
	return placeArchive(out, func(tw *tar.Writer) error { return writeCombined(tw, index, archives, names) })
}

func writeCombined(tw *tar.Writer, index []byte, archives, names []string) error {
	digest, size, err := v1.SHA256(bytes.NewReader(index))
	if err != nil {
		return err
	}
	outer, err := namedIndex(v1.Descriptor{MediaType: types.OCIImageIndex, Digest: digest, Size: size}, names)
	if err != nil {
		return err
	}
	for _, entry := range []struct {
		name    string
		content []byte
	}{{"oci-layout", []byte(layoutVersion)}, {"index.json", outer}, {blobPath(digest), index}} {
		if err := writeEntry(tw, entry.name, entry.content); err != nil {
			return err
		}
	}
	written := map[string]bool{}
	for _, path := range archives {
		if err := copyBlobs(tw, path, written); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return tw.Close()
}

// imageIn describes the one image of an archive that this program has written.
func imageIn(path string) (*v1.Descriptor, error) {
	var found *v1.Descriptor
	err := walkArchive(path, func(header *tar.Header, content io.Reader) error {
		if header.Name != "index.json" {
			return nil
		}
		var index v1.IndexManifest
		if err := json.NewDecoder(content).Decode(&index); err != nil {
			return fmt.Errorf("index.json: %w", err)
		}
		if len(index.Manifests) == 0 || index.Manifests[0].Platform == nil {
			return errors.New("index.json names no image with a platform")
		}
		found = &index.Manifests[0]
		return nil
	})
	if err == nil && found == nil {
		err = errors.New("not an OCI archive: it has no index.json")
	}
	return found, err
}

// copyBlobs adds the blobs of an archive that have not been written yet.
func copyBlobs(tw *tar.Writer, path string, written map[string]bool) error {
	return walkArchive(path, func(header *tar.Header, content io.Reader) error {
		if layoutFiles[header.Name] || written[header.Name] {
			return nil
		}
		written[header.Name] = true
		if err := tw.WriteHeader(entryHeader(header.Name, header.Size)); err != nil {
			return err
		}
		_, err := io.Copy(tw, content)
		return err
	})
}

func walkArchive(path string, visit func(*tar.Header, io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := tar.NewReader(file)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(header, reader); err != nil {
			return err
		}
	}
}
