package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SetConstant gives a constant of a Python file another value: text, a list or a map of
// text, or true or false. The constant has the line that begins with its name. SetConstant panics
// unless there is exactly one: constants guard the safety of what the file does, and the
// file is compiled in.
func SetConstant(script, name string, value any) string {
	literal := ""
	switch value := value.(type) {
	case bool:
		literal = "False"
		if value {
			literal = "True"
		}
	default:
		// What JSON says of text, and of lists and maps of it, is Python, and it has no error.
		encoded, _ := json.Marshal(value)
		literal = string(encoded)
	}
	found, lines := 0, strings.Split(script, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, name+" = ") {
			found++
			lines[i] = name + " = " + literal
		}
	}
	if found != 1 {
		panic(fmt.Sprintf("a Python file has %d lines for the constant %s, want 1; this is a bug in the operator", found, name))
	}
	return strings.Join(lines, "\n")
}
