package show

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Formats are the values of the flag --output.
var Formats = []string{"table", "json", "yaml"}

// CheckFormat returns an error for an unknown format.
func CheckFormat(format string) error {
	if slices.Contains(Formats, format) {
		return nil
	}
	return fmt.Errorf("--output=%s: choose %s", format, strings.Join(Formats, ", "))
}

// Write writes the document in the format, with the function if that is the
// table.
func Write(out io.Writer, format string, document any, table func(io.Writer)) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(document)
	case "yaml":
		encoded, err := yaml.Marshal(document)
		if err != nil {
			return err
		}
		_, err = out.Write(encoded)
		return err
	}
	table(out)
	return nil
}
