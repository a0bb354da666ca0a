// Command docgen writes the reference pages of the operators: their APIs, the
// vocabulary of their kinds, their flags, steps and metrics. It also writes their
// dashboards, and lists the packages of the shared library in docs/architecture.md.
//
//	docgen docs/reference
//
// It runs at the top of the checkout. Every folder below operators that contains a
// program is an operator. Of one that has no API, because it runs others, only the flags
// are written.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docgen FOLDER")
		os.Exit(2)
	}
	if err := run(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(root, folder string) error {
	operators, err := findOperators(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := planPackages(root, filepath.Join(root, "docs", "architecture.md")); err != nil {
		return err
	}
	for _, o := range operators {
		if err := o.writePages(folder); err != nil {
			return fmt.Errorf("%s: %w", o.folder, err)
		}
	}
	return nil
}

// findOperators returns the operators of a checkout, by name.
func findOperators(root string) ([]operator, error) {
	programs, err := filepath.Glob(filepath.Join(root, "operators", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	if len(programs) == 0 {
		return nil, errors.New("there are no operators/*/main.go: run docgen at the top of the checkout")
	}
	operators := make([]operator, 0, len(programs))
	for _, program := range programs {
		folder := filepath.Dir(program)
		operators = append(operators, operator{name: filepath.Base(folder), folder: folder})
	}
	return operators, nil
}
