package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	vault "github.com/hashicorp/vault/api"
)

// send writes data to a path.
func (t *Tool) send(ctx context.Context, path string, data map[string]any) error {
	_, err := t.client.Logical().WriteWithContext(ctx, path, data)
	return err
}

// write writes data to a path, and prints the answer if a field of it is asked for.
func (t *Tool) write(ctx context.Context, args []string) error {
	if len(args) == 1 && !t.options.force {
		return errors.New("there is no data to write; -force writes without any\n\n" + strings.TrimSpace(Usage))
	}
	data, err := t.data(args[1:])
	if err != nil {
		return err
	}
	answer, err := t.client.Logical().WriteWithContext(ctx, args[0], data)
	if err != nil || t.options.field == "" {
		return err
	}
	return t.printAnswer(answer, args[0])
}

func (t *Tool) read(ctx context.Context, args []string) error {
	answer, err := t.client.Logical().ReadWithContext(ctx, args[0])
	if err != nil {
		return err
	}
	return t.printAnswer(answer, args[0])
}

// printAnswer prints what was answered for a path, or the field of it that is asked for.
func (t *Tool) printAnswer(answer *vault.Secret, path string) error {
	switch {
	case answer == nil:
		return fmt.Errorf("%s: %w", path, ErrNotFound)
	case t.options.field != "":
		return t.printField(answer.Data, path)
	}
	return t.print(answer.Data)
}

// at returns the path of a request of some kind for a secret, whose path starts
// with its mount unless the options name the mount.
func (t *Tool) at(kind, path string) string {
	mount := strings.Trim(t.options.mount, "/")
	if mount == "" {
		mount, path, _ = strings.Cut(path, "/")
	}
	return mount + "/" + kind + "/" + path
}

func (t *Tool) kvGet(ctx context.Context, args []string) error {
	return t.show(ctx, "data", args[0], url.Values{"version": {t.options.version}})
}

func (t *Tool) metadataGet(ctx context.Context, args []string) error {
	return t.show(ctx, "metadata", args[0], nil)
}

// show prints a secret or its metadata: all of the answer as JSON, or one field.
func (t *Tool) show(ctx context.Context, kind, path string, query url.Values) error {
	answer, err := t.client.Logical().ReadWithDataWithContext(ctx, t.at(kind, path), query)
	if err != nil {
		return err
	}
	if answer == nil || kind == "data" && answer.Data["data"] == nil {
		return fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	switch {
	case t.options.field != "":
		data, _ := answer.Data["data"].(map[string]any)
		return t.printField(data, path)
	case t.options.format == "json":
		return t.print(answer)
	}
	return t.print(answer.Data)
}

// printField prints one value: text verbatim, everything else as JSON.
func (t *Tool) printField(data map[string]any, path string) error {
	value, ok := data[t.options.field]
	if !ok {
		return fmt.Errorf("%s has no field %q", path, t.options.field)
	}
	if text, ok := value.(string); ok {
		_, err := fmt.Fprintln(t.out, text)
		return err
	}
	return t.print(value)
}

func (t *Tool) kvPut(ctx context.Context, args []string) error {
	data, err := t.data(args[1:])
	if err != nil {
		return err
	}
	body := map[string]any{"data": data}
	if t.options.cas >= 0 {
		body["options"] = map[string]int{"cas": t.options.cas}
	}
	return t.send(ctx, t.at("data", args[0]), body)
}

func (t *Tool) kvList(ctx context.Context, args []string) error {
	answer, err := t.client.Logical().ListWithContext(ctx, t.at("metadata", strings.Trim(args[0], "/")))
	if err != nil {
		return err
	}
	if answer == nil {
		return fmt.Errorf("%s: %w", args[0], ErrNotFound)
	}
	names, _ := answer.Data["keys"].([]any)
	for _, name := range names {
		if _, err := fmt.Fprintln(t.out, name); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tool) metadataPut(ctx context.Context, args []string) error {
	key, value, ok := strings.Cut(t.options.custom, "=")
	if !ok {
		return errors.New("-custom-metadata is KEY=VALUE")
	}
	return t.send(ctx, t.at("metadata", args[0]), map[string]any{"custom_metadata": map[string]string{key: value}})
}

func (t *Tool) metadataDelete(ctx context.Context, args []string) error {
	_, err := t.client.Logical().DeleteWithContext(ctx, t.at("metadata", args[0]))
	return err
}

// data builds the data to write from the arguments after a path.
func (t *Tool) data(args []string) (map[string]any, error) {
	data := map[string]any{}
	if len(args) == 1 && args[0] == "-" {
		if json.NewDecoder(t.in).Decode(&data) != nil {
			return nil, errors.New("standard input holds no JSON object")
		}
		return data, nil
	}
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", arg)
		}
		value, err := t.value(text)
		if err != nil {
			return nil, err
		}
		data[key] = value
	}
	return data, nil
}

// value resolves a value of the command line: "-" is standard input, "@NAME" a file.
func (t *Tool) value(text string) (string, error) {
	file, isFile := strings.CutPrefix(text, "@")
	var content []byte
	var err error
	switch {
	case text == "-":
		content, err = io.ReadAll(t.in)
	case isFile:
		content, err = os.ReadFile(file)
	default:
		return text, nil
	}
	return string(content), err
}
