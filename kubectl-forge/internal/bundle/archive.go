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
	var err error
	for _, file := range files {
		header := &tar.Header{
			Name: path.Join(folder, file.Name), Mode: 0o600, Size: int64(len(file.Content)), ModTime: at, Typeflag: tar.TypeReg,
		}
		if err == nil {
			err = archive.WriteHeader(header)
		}
		if err == nil {
			_, err = io.WriteString(archive, file.Content)
		}
	}
	return errors.Join(err, archive.Close(), compressed.Close())
}
