package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Values of the -compress flag.
const (
	compressZstd = "zstd"
	compressGzip = "gzip"
	compressNone = "none"
)

// layerFromTar creates a layer from an uncompressed tar file.
func layerFromTar(name, comp string) (v1.Layer, error) {
	if err := checkTar(name); err != nil {
		return nil, err
	}
	layer, err := newLayer(func() (io.ReadCloser, error) { return os.Open(name) }, comp)
	if err != nil {
		return nil, fmt.Errorf("make a layer of %s: %w", name, err)
	}
	return layer, nil
}

// checkTar refuses anything but a plain tar file. A compressed one would be
// stored as it is, under the wrong media type.
func checkTar(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := tar.NewReader(f).Next(); err != nil {
		return fmt.Errorf("%s is not an uncompressed tar file: %w", name, err)
	}
	return nil
}

// layerFromFiles creates a layer with the files and their parent
// directories, all owned by root.
func layerFromFiles(files []file, comp string) (v1.Layer, error) {
	var buf bytes.Buffer
	if err := writeFiles(tar.NewWriter(&buf), files); err != nil {
		return nil, err
	}
	layer, err := newLayer(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
	}, comp)
	if err != nil {
		return nil, fmt.Errorf("make a layer of single files: %w", err)
	}
	return layer, nil
}

func newLayer(open tarball.Opener, comp string) (v1.Layer, error) {
	switch comp {
	case compressNone:
		return newPlainLayer(open)
	case compressGzip:
		return tarball.LayerFromOpener(open, tarball.WithCompressedCaching,
			tarball.WithMediaType(types.OCILayer))
	default:
		return tarball.LayerFromOpener(open, tarball.WithCompressedCaching,
			tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd))
	}
}

// plainLayer is a layer that is stored as an uncompressed tar file, which the
// image format allows but go-containerregistry's own constructors do not support.
type plainLayer struct {
	open   tarball.Opener
	digest v1.Hash
	size   int64
}

func newPlainLayer(open tarball.Opener) (*plainLayer, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	digest, size, err := v1.SHA256(r)
	if err != nil {
		return nil, err
	}
	return &plainLayer{open: open, digest: digest, size: size}, nil
}

func (l *plainLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *plainLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *plainLayer) Compressed() (io.ReadCloser, error)   { return l.open() }
func (l *plainLayer) Uncompressed() (io.ReadCloser, error) { return l.open() }
func (l *plainLayer) Size() (int64, error)                 { return l.size, nil }
func (l *plainLayer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }
