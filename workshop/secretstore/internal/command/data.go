package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// data builds the data to write from the arguments after a path. A key that is
// given more than once has a list of values.
func (t *Tool) data(args []string) (map[string]any, error) {
	switch {
	case len(args) == 0:
		return nil, errUsage
	case len(args) == 1 && args[0] == "-":
		return t.standardInput()
	}
	data := map[string]any{}
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", arg)
		}
		value, err := t.value(text)
		if err != nil {
			return nil, err
		}
		add(data, key, value)
	}
	return data, nil
}

func (t *Tool) standardInput() (map[string]any, error) {
	data := map[string]any{}
	if json.NewDecoder(t.In).Decode(&data) != nil {
		return nil, errors.New("standard input holds no JSON object")
	}
	return data, nil
}

// add adds a value to those of the key.
func add(data map[string]any, key string, value any) {
	switch present := data[key].(type) {
	case nil:
		data[key] = value
	case []any:
		data[key] = append(present, value)
	default:
		data[key] = []any{present, value}
	}
}

// value resolves a value of the command line: "-" is standard input, "@NAME" a file.
func (t *Tool) value(text string) (string, error) {
	if text == "-" {
		content, err := io.ReadAll(t.In)
		return string(content), err
	}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		content, err := os.ReadFile(name)
		return string(content), err
	}
	return text, nil
}
