package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// describeSource is the source of a program that prints the description of an
// operator, with OPERATOR as a placeholder for the operator's name.
//
//go:embed describe.go.txt
var describeSource string

// description is the part of the documentation that only the operator's own code
// can provide.
type description struct {
	Controllers []reconcile.Outline
	Metrics     []metric.Definition
	Kinds       []vocabulary.Kind
}

// describe returns the description of an operator. Only programs of the operator
// can import its internal packages, so describe compiles one in an overlay, which
// leaves the operator's folder unchanged.
func (o operator) describe() (description, error) {
	work, err := os.MkdirTemp("", "docgen-")
	if err != nil {
		return description{}, err
	}
	defer os.RemoveAll(work)
	overlay, err := o.writeOverlay(work)
	if err != nil {
		return description{}, err
	}
	output, _, err := o.goRun("-overlay="+overlay, "./internal/describe")
	if err != nil {
		return description{}, err
	}
	var found description
	if err := json.Unmarshal(output, &found); err != nil {
		return description{}, fmt.Errorf("read its description: %w", err)
	}
	return found, nil
}

// writeOverlay writes the program and the overlay that adds it to the operator, and returns
// the file of the overlay.
func (o operator) writeOverlay(work string) (overlay string, err error) {
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return "", err
	}
	source, overlay := filepath.Join(work, "main.go"), filepath.Join(work, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(folder, "internal", "describe", "main.go"): source},
	})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(source, []byte(strings.ReplaceAll(describeSource, "OPERATOR", o.name)), 0o600),
		os.WriteFile(overlay, replace, 0o600),
	)
}

// help returns the output of the operator with --help.
func (o operator) help() (string, error) {
	output, problems, err := o.goRun(".", "--help")
	return string(output) + string(problems), err
}

// goRun runs a program of the operator and returns its standard output and its
// standard error.
func (o operator) goRun(args ...string) (stdout, stderr []byte, err error) {
	run := exec.Command("go", append([]string{"run"}, args...)...)
	run.Dir = o.folder
	var output, problems bytes.Buffer
	run.Stdout, run.Stderr = &output, &problems
	if err := run.Run(); err != nil {
		return nil, nil, fmt.Errorf("%v: %w\n%s", run.Args, err, &problems)
	}
	return output.Bytes(), problems.Bytes(), nil
}
