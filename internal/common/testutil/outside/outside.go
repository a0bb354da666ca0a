// Package outside lets tests read files that do not belong to their Go module.
package outside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// variable is the beginning of the names of variables that hold a digest of files
// of the checkout, such as FORGE_FILES_DOCS. The Makefile sets them.
const variable = "FORGE_FILES_"

// File returns the path of a file or folder of the checkout as it is, and lets go
// test run the test anew when something in that part of the checkout has changed.
// Go remembers which variables a test has read, and which files, but the latter
// only within the test's module.
func File(path string) string {
	os.Getenv(variable + part(path))
	return path
}

// Checkout returns the top of the checkout, and lets go test run the test anew when a file
// of it comes or goes, or when what make knows or a page outside docs changes.
func Checkout(path string) (string, error) {
	os.Getenv(variable + "CHECKOUT")
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return Root(full)
}

// part names the part of the checkout that the path belongs to: an operator, what is
// in hack, or another folder at the top. It is empty outside a checkout.
func part(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	root, err := Root(full)
	if err != nil {
		return ""
	}
	elements := strings.Split(strings.TrimPrefix(full, root+string(filepath.Separator)), string(filepath.Separator))
	name := elements[0]
	if (name == "operators" || name == "hack") && len(elements) > 1 {
		name = strings.Join(elements[:2], "_")
	}
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// Root returns the top of the checkout: the nearest folder at or above the given
// one that holds the workspace file.
func Root(path string) (string, error) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.work above %s: run the tests inside the checkout", path)
		}
	}
}
