package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// These lines of a README enclose the table.
const (
	tableStart = "<!-- values -->\n"
	tableEnd   = "<!-- /values -->\n"
)

// placeForTable says how an author makes a place for the table.
const placeForTable = "with the lines <!-- values --> and <!-- /values --> where the table of values belongs"

// table returns the values as rows of Markdown.
func table(values []value) string {
	var out strings.Builder
	out.WriteString("| Value | Default | |\n|---|---|---|\n")
	for _, v := range values {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", v.name(), preset(v.preset), cell(v.about+choices(v)))
	}
	return out.String()
}

// preset formats a default as in values.yaml, on one line.
func preset(v any) string {
	if v == "" {
		return "empty"
	}
	if text, ok := v.(string); ok {
		return "`" + text + "`"
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return "`" + string(encoded) + "`"
}

// choices returns the allowed values, if there are few.
func choices(v value) string {
	if len(v.allowed) == 0 {
		return ""
	}
	names := make([]string, 0, len(v.allowed))
	for _, one := range v.allowed {
		names = append(names, preset(one))
	}
	return " One of " + strings.Join(names, ", ") + "."
}

// cell makes text fit into a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// replaceTable replaces the table of a README.
func replaceTable(readme []byte, table string) ([]byte, error) {
	before, rest, found := bytes.Cut(readme, []byte(tableStart))
	_, after, ended := bytes.Cut(rest, []byte(tableEnd))
	if !found || !ended {
		return nil, errors.New("there is no place for the table: complete it " + placeForTable)
	}
	return bytes.Join([][]byte{before, []byte(tableStart), []byte(table), []byte(tableEnd), after}, nil), nil
}

// referencePage returns the page about the chart's values for the documentation.
func referencePage(chart string, values []value) []byte {
	return fmt.Appendf(nil, `# Values of the %s chart

What can be set with `+"`--set`"+` or in a file for `+"`--values`"+`. Helm refuses whatever is not
here, and values that cannot work.

%s`, chart, table(values))
}
