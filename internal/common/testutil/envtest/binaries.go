package envtest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

// assetsVariable is the variable in which setup-envtest publishes its
// directory of binaries; it takes precedence over the checkout's own.
const assetsVariable = "KUBEBUILDER_ASSETS"

// binary returns the path of a binary: in KUBEBUILDER_ASSETS when it is there,
// otherwise in .cache/bin of the checkout. The error names the command that
// builds what is missing.
func binary(name string) (string, error) {
	root, err := checkout()
	if err == nil {
		// The binary's version is pinned there.
		outside.File(filepath.Join(root, "hack", "tools"))
	}
	if dir := os.Getenv(assetsVariable); dir != "" {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", "bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w\nbuild it with `make %s`, or set %s to a directory that has it", err, path, assetsVariable)
	}
	return path, nil
}

// checkout returns the top of the checkout that the tests run in.
func checkout() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, err := outside.Root(wd)
	if err != nil {
		return "", fmt.Errorf("%w, or set %s", err, assetsVariable)
	}
	return root, nil
}
