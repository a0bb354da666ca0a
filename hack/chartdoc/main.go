// Command chartdoc generates the documentation of a chart's values: the schema that Helm
// checks them against, the table in the chart's README, and a reference page.
//
//	chartdoc -base operators/shared/helm/values.schema.json \
//	    -own operators/c5c3/helm/values.schema.json \
//	    -page docs/reference/values-c5c3-operator.md operators/c5c3/helm/c5c3-operator
//
// The description and the default of a value come from values.yaml, the allowed values from
// the base schema, which all charts share, and from the chart's own, if it has one.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "chartdoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("chartdoc", flag.ContinueOnError)
	base := flags.String("base", "", "`path` of the schema that all charts share")
	own := flags.String("own", "", "`path` of what only this chart has; it need not exist")
	page := flags.String("page", "", "`path` of the reference page to write")
	check := flags.Bool("check", false, "write nothing, and fail when a file is not what would be written")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *base == "" || *page == "" {
		return errors.New("-base, -page and the folder of one chart are required")
	}
	files, err := document(flags.Arg(0), *base, *own, *page)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := f.place(*check); err != nil {
			return err
		}
	}
	return nil
}

// withTable returns the content of a README with another table of values.
func withTable(readme, values string) ([]byte, error) {
	content, err := os.ReadFile(readme)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: write it, %s", readme, placeForTable)
	}
	if err != nil {
		return nil, err
	}
	if content, err = replaceTable(content, values); err != nil {
		return nil, fmt.Errorf("%s: %w", readme, err)
	}
	return content, nil
}

// document returns the files that describe the values of the chart.
func document(chart, base, own, page string) ([]file, error) {
	content, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return nil, err
	}
	schema, err := readSchema(base, own)
	if err != nil {
		return nil, err
	}
	values, err := readValues(content, schema)
	if err != nil {
		return nil, fmt.Errorf("%s/values.yaml: %w", chart, err)
	}
	name := filepath.Base(chart)
	described, err := encode(describe(schema, name, values))
	if err != nil {
		return nil, err
	}
	readme := filepath.Join(chart, "README.md")
	content, err = withTable(readme, table(values))
	if err != nil {
		return nil, err
	}
	return []file{
		{filepath.Join(chart, "values.schema.json"), described},
		{readme, content},
		{page, referencePage(name, values)},
	}, nil
}

// readSchema returns the shared schema with the additions of the chart.
func readSchema(base, own string) (object, error) {
	schema, err := readObject(base)
	if err != nil {
		return nil, err
	}
	added, err := readObject(own)
	if errors.Is(err, fs.ErrNotExist) {
		return schema, nil
	}
	if err != nil {
		return nil, err
	}
	return merge(schema, added), nil
}

func readObject(path string) (object, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	parsed := object{}
	if err := json.Unmarshal(content, &parsed); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return parsed, nil
}

// encode encodes a schema in a readable form: patterns are not escaped.
func encode(schema object) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(schema)
	return out.Bytes(), err
}

// file is a file to write.
type file struct {
	path    string
	content []byte
}

func (f file) place(check bool) error {
	current, err := os.ReadFile(f.path)
	switch {
	case err == nil && bytes.Equal(current, f.content):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case check:
		return fmt.Errorf("%s is out of date with values.yaml or the schemas: run make generate", f.path)
	}
	return os.WriteFile(f.path, f.content, 0o644)
}
