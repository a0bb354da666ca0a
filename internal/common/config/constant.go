package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SetConstant gives a constant of a Python file another value: text, a list of text, or
// true or false. The constant has the first line that begins with its name, and there is one.
func SetConstant(script, name string, value any) string {
	literal := ""
	switch value := value.(type) {
	case bool:
		literal = "False"
		if value {
			literal = "True"
		}
	default:
		// What JSON says of text, and of lists of it, is Python, and it has no error.
		encoded, _ := json.Marshal(value)
		literal = string(encoded)
	}
	before, after, _ := strings.Cut(script, "\n"+name+" = ")
	_, rest, _ := strings.Cut(after, "\n")
	return fmt.Sprintf("%s\n%s = %s\n%s", before, name, literal, rest)
}
