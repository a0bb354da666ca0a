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

// describeSource is a program that prints the description of an operator, with OPERATOR in place
// of its name.
//
//go:embed describe.go.txt
var describeSource string

// description is what only an operator's own code knows of it.
type description struct {
	Controllers []reconcile.Outline
	Metrics     []metric.Definition
	Kinds       []vocabulary.Kind
}

// describe asks an operator's code for its description. Packages below internal can be
// imported by programs of the operator alone, so the one that asks is compiled as one of
// them. It is an overlay: the operator's folder stays as it is.
func (o operator) describe() (description, error) {
	work, err := os.MkdirTemp("", "docgen-")
	if err != nil {
		return description{}, err
	}
	defer os.RemoveAll(work)
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return description{}, err
	}
	source, overlay := filepath.Join(work, "main.go"), filepath.Join(work, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(folder, "internal", "describe", "main.go"): source},
	})
	if err != nil {
		return description{}, err
	}
	err = errors.Join(
		os.WriteFile(source, []byte(strings.ReplaceAll(describeSource, "OPERATOR", o.name)), 0o600),
		os.WriteFile(overlay, replace, 0o600),
	)
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

// help returns what the operator prints for --help.
func (o operator) help() (string, error) {
	output, problems, err := o.goRun(".", "--help")
	return string(output) + string(problems), err
}

// goRun returns what a program of the operator writes to its standard output and to its
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
