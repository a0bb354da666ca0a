package server

import (
	"errors"
	"os"
	"path/filepath"
)

// replaceFile replaces a file atomically: it has either the old or the new content.
func replaceFile(file string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, writeErr := temporary.Write(content)
	if err := errors.Join(writeErr, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}
