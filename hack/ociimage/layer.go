package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

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

// writeFiles writes the files in the order of their destinations, so that
// the order of the flags does not affect the digest.
func writeFiles(tw *tar.Writer, files []file) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.dst, b.dst) })
	dirs := map[string]bool{"/": true}
	for i, f := range files {
		if i > 0 && files[i-1].dst == f.dst {
			return fmt.Errorf("two files for %s: drop one of the -file flags", f.dst)
		}
		if err := writeParents(tw, path.Dir(f.dst), dirs); err != nil {
			return err
		}
		if err := copyFile(tw, f); err != nil {
			return fmt.Errorf("add %s as %s: %w", f.src, f.dst, err)
		}
	}
	return tw.Close()
}

func writeParents(tw *tar.Writer, dir string, done map[string]bool) error {
	if done[dir] {
		return nil
	}
	if err := writeParents(tw, path.Dir(dir), done); err != nil {
		return err
	}
	done[dir] = true
	return tw.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir,
		Name:     strings.TrimPrefix(dir, "/") + "/",
		Mode:     0o755,
		ModTime:  epoch,
		Format:   tar.FormatPAX,
	})
}

func copyFile(tw *tar.Writer, f file) error {
	src, err := os.Open(f.src)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", f.src)
	}
	err = tw.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg,
		Name:     strings.TrimPrefix(f.dst, "/"),
		Size:     info.Size(),
		Mode:     f.mode,
		ModTime:  epoch,
		Format:   tar.FormatPAX,
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(tw, src)
	return err
}
