package command

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/c5c3/forge/workshop/secretstore/internal/client"
	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

// Tool runs commands.
type Tool struct {
	Client *client.Client
	// Keys returns the keys that unseal the store.
	Keys func() (server.Keys, error)
	In   io.Reader
	Out  io.Writer
}

func (t *Tool) print(v any) error {
	encoder := json.NewEncoder(t.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// printField prints one value: text verbatim, everything else as JSON.
func (t *Tool) printField(data map[string]any, path, field string) error {
	value, ok := data[field]
	if !ok {
		return fmt.Errorf("%s has no field %q", path, field)
	}
	if text, ok := value.(string); ok {
		_, err := fmt.Fprintln(t.Out, text)
		return err
	}
	return t.print(value)
}
