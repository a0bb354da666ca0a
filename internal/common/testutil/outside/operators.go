package outside

import (
	"fmt"
	"os"
	"path/filepath"
)

// Operators returns the names of the operators of the checkout at root, in
// alphabetical order: the folders below "operators" that contain a program and an API. A
// test that reads files in them has to use [File] for each.
func Operators(root string) ([]string, error) {
	if _, err := Checkout(root); err != nil {
		return nil, err
	}
	programs, err := filepath.Glob(filepath.Join(root, "operators", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("there are no operators/*/main.go below %s", root)
	}
	names := make([]string, 0, len(programs))
	for _, program := range programs {
		folder := filepath.Dir(program)
		if _, err := os.Stat(filepath.Join(folder, "api")); err == nil {
			names = append(names, filepath.Base(folder))
		}
	}
	return names, nil
}
