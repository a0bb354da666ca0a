package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// epoch replaces every time in an image, so that the time of the build
// does not affect its digest.
var epoch = time.Unix(0, 0).UTC()

// file is a regular file that is copied into the image.
type file struct {
	src  string
	dst  string
	mode int64
}

// parseFile reads "src:dst:mode" with an absolute dst and an octal mode.
func parseFile(s string) (file, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return file{}, errors.New("must have the form src:dst:mode")
	}
	mode, err := strconv.ParseUint(parts[2], 8, 12)
	if err != nil {
		return file{}, fmt.Errorf("mode %q is not an octal file mode such as 0755", parts[2])
	}
	dst := path.Clean(parts[1])
	if !path.IsAbs(dst) || dst == "/" {
		return file{}, fmt.Errorf("destination %q must be the absolute path of a file", parts[1])
	}
	return file{src: parts[0], dst: dst, mode: int64(mode)}, nil
}

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
	if err := tw.WriteHeader(f.header(info.Size())); err != nil {
		return err
	}
	_, err = io.Copy(tw, src)
	return err
}

// header is that of the file in a layer.
func (f file) header(size int64) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     strings.TrimPrefix(f.dst, "/"),
		Size:     size,
		Mode:     f.mode,
		ModTime:  epoch,
		Format:   tar.FormatPAX,
	}
}
