package show

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// Formats are the values of the flag --output.
var Formats = []string{"table", "json", "yaml"}

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
		if err == nil {
			_, err = out.Write(encoded)
		}
		return err
	}
	table(out)
	return nil
}
