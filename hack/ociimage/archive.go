package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Annotations of an index entry that name its image: containerd takes the
// full name, the OCI image layout only the tag.
const (
	containerdNameAnnotation = "io.containerd.image.name"
	ociRefNameAnnotation     = "org.opencontainers.image.ref.name"
)

// layoutVersion is the content of the file that marks an OCI image layout.
const layoutVersion = `{"imageLayoutVersion":"1.0.0"}`

// writeArchive writes an OCI image layout with the one image under all its names.
func writeArchive(out string, img v1.Image, names []string) error {
	return placeArchive(out, func(tw *tar.Writer) error { return writeLayout(tw, img, names) })
}

// placeArchive writes an archive and moves it to its path only when it is
// complete.
func placeArchive(out string, write func(*tar.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".*")
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if err := errors.Join(write(tar.NewWriter(tmp)), tmp.Close()); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return os.Rename(tmp.Name(), out)
}

func writeLayout(tw *tar.Writer, img v1.Image, names []string) error {
	index, err := indexJSON(img, names)
	if err != nil {
		return err
	}
	if err := writeEntry(tw, "oci-layout", []byte(layoutVersion)); err != nil {
		return err
	}
	if err := writeEntry(tw, "index.json", index); err != nil {
		return err
	}
	if err := writeMetadata(tw, img); err != nil {
		return err
	}
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	written := map[v1.Hash]bool{}
	for _, layer := range layers {
		if err := writeLayer(tw, layer, written); err != nil {
			return err
		}
	}
	return tw.Close()
}

func indexJSON(img v1.Image, names []string) ([]byte, error) {
	desc, err := partial.Descriptor(img)
	if err != nil {
		return nil, fmt.Errorf("describe image: %w", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read image config: %w", err)
	}
	described := *desc
	described.Platform = &v1.Platform{OS: config.OS, Architecture: config.Architecture}
	return namedIndex(described, names)
}

// namedIndex lists the described image under each name.
func namedIndex(described v1.Descriptor, names []string) ([]byte, error) {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	for _, name := range names {
		named := described
		named.Annotations = map[string]string{
			containerdNameAnnotation: name,
			ociRefNameAnnotation:     name[strings.LastIndex(name, ":")+1:],
		}
		index.Manifests = append(index.Manifests, named)
	}
	return json.Marshal(index)
}

func writeMetadata(tw *tar.Writer, img v1.Image) error {
	manifest, err := img.RawManifest()
	if err != nil {
		return fmt.Errorf("read image manifest: %w", err)
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return fmt.Errorf("read image config: %w", err)
	}
	for _, blob := range [][]byte{manifest, config} {
		digest, _, err := v1.SHA256(bytes.NewReader(blob))
		if err != nil {
			return err
		}
		if err := writeEntry(tw, blobPath(digest), blob); err != nil {
			return err
		}
	}
	return nil
}

// writeLayer adds the layer's blob unless an equal layer has already added it.
func writeLayer(tw *tar.Writer, layer v1.Layer, written map[v1.Hash]bool) error {
	digest, err := layer.Digest()
	if err != nil || written[digest] {
		return err
	}
	written[digest] = true
	size, err := layer.Size()
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer content.Close()
	if err := tw.WriteHeader(entryHeader(blobPath(digest), size)); err != nil {
		return err
	}
	_, err = io.Copy(tw, content)
	return err
}

func writeEntry(tw *tar.Writer, name string, content []byte) error {
	if err := tw.WriteHeader(entryHeader(name, int64(len(content)))); err != nil {
		return err
	}
	_, err := tw.Write(content)
	return err
}

func entryHeader(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: epoch}
}

func blobPath(digest v1.Hash) string {
	return "blobs/" + digest.Algorithm + "/" + digest.Hex
}
