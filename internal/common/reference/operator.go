package reference

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
)

// WriteOperator writes the pages that every operator has into a folder: its flags,
// its metrics and what its controllers do in a pass. The operator, such as "keystone",
// is the one in the current folder, which is run for its flags.
func (p Page) WriteOperator(folder, name string, outlines []reconcile.Outline, metrics []metric.Definition) error {
	help, err := helpOf(".")
	if err != nil {
		return err
	}
	var flags, pipelines, series bytes.Buffer
	err = errors.Join(
		Page{Title: "Flags of " + name + "-operator", Command: p.Command}.WriteFlags(&flags, help),
		Page{Title: "Steps of " + name + "-operator", Command: p.Command}.WritePipelines(&pipelines, outlines...),
		Page{Title: "Metrics of " + name + "-operator", Command: p.Command}.WriteMetrics(&series, metrics),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "flags-"+name+"-operator.md"), flags.Bytes(), 0o644),
		os.WriteFile(filepath.Join(folder, "steps-"+name+"-operator.md"), pipelines.Bytes(), 0o644),
		os.WriteFile(filepath.Join(folder, "metrics-"+name+"-operator.md"), series.Bytes(), 0o644),
	)
}

// helpOf returns what the program in a folder prints as its help.
func helpOf(folder string) (string, error) {
	run := exec.Command("go", "run", folder, "--help")
	output, err := run.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", run.Args, err, output)
	}
	return string(output), nil
}
