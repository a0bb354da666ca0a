package pages

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/c5c3/forge/internal/common/reconcile"
)

// WritePipelines writes the pipelines of controllers as Markdown: a diagram and a
// table of the steps for each.
func (p Page) WritePipelines(w io.Writer, outlines ...reconcile.Outline) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- Written by %s. Do not edit. -->\n\n# %s\n", p.Command, p.Title)
	out.WriteString("\nThe steps run from top to bottom in every pass. An arrow leads from a step to one that needs it: that one\n" +
		"waits until the other is done. A step without an arrow to it never waits.\n")
	for i := range outlines {
		writePipeline(&out, &outlines[i])
	}
	_, err := w.Write(out.Bytes())
	return err
}

func writePipeline(out *bytes.Buffer, outline *reconcile.Outline) {
	fmt.Fprintf(out, "\n## %s\n", outline.Kind)
	if needs := diagramOf(outline.Steps); needs != "" {
		fmt.Fprintf(out, "\n```mermaid\nflowchart LR\n%s```\n", needs)
	}
	out.WriteString("\n| | Step | Condition | Needs |\n|---:|---|---|---|\n")
	for i, step := range outline.Steps {
		condition := "`" + step.Condition + "`"
		if step.Informational {
			condition += ", which does not count for `Ready`"
		}
		fmt.Fprintf(out, "| %d | %s | %s | %s |\n", i+1, step.Name, condition, strings.Join(step.Needs, ", "))
	}
	writeStages(out, outline.Finalizers)
}

func writeStages(out *bytes.Buffer, stages []reconcile.OutlineStep) {
	if len(stages) == 0 {
		return
	}
	out.WriteString("\nDeletion, in this order:\n\n| | Stage | Condition | Finalizer |\n|---:|---|---|---|\n")
	for i, stage := range stages {
		fmt.Fprintf(out, "| %d | %s | `%s` | `%s` |\n", i+1, stage.Name, stage.Condition, stage.Finalizer)
	}
}

// diagramOf draws the dependencies between steps. Steps without dependencies and
// dependants are only in the table.
func diagramOf(steps []reconcile.OutlineStep) string {
	var out strings.Builder
	for _, step := range steps {
		for _, need := range step.Needs {
			fmt.Fprintf(&out, "    %s --> %s\n", need, step.Name)
		}
	}
	return out.String()
}
