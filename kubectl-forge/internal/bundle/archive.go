package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"time"
)

// Write writes the files as a compressed tar archive, below the folder.
func Write(out io.Writer, folder string, files []File, at time.Time) error {
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	err := writeAll(archive, folder, files, at)
	return errors.Join(err, archive.Close(), compressed.Close())
}

func writeAll(archive *tar.Writer, folder string, files []File, at time.Time) error {
	for _, file := range files {
		header := &tar.Header{
			Name: path.Join(folder, file.Name), Mode: 0o600, Size: int64(len(file.Content)), ModTime: at, Typeflag: tar.TypeReg,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, file.Content); err != nil {
			return err
		}
	}
	return nil
}
