package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// at inserts the kind of a request after the mount that a path starts with.
func at(kind, path string) string {
	mount, rest, _ := strings.Cut(strings.Trim(path, "/"), "/")
	return mount + "/" + kind + "/" + rest
}

func (t *Tool) kvGet(ctx context.Context, args []string) error {
	flags := newFlags()
	field := flags.String("field", "", "")
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Data     map[string]any `json:"data"`
			Metadata any            `json:"metadata"`
		} `json:"data"`
	}
	if err := t.Client.Do(ctx, "GET", at("data", path), nil, &answer); err != nil {
		return err
	}
	if *field == "" {
		return t.print(answer.Data)
	}
	value, ok := answer.Data.Data[*field]
	if !ok {
		return fmt.Errorf("%s has no field %q", path, *field)
	}
	_, err = fmt.Fprintln(t.Out, value)
	return err
}

func (t *Tool) kvPut(ctx context.Context, args []string) error {
	flags := newFlags()
	cas := flags.Int("cas", -1, "")
	if len(args) < 2 || args[len(args)-1] != "-" {
		return errUsage
	}
	path, err := parse(flags, args[:len(args)-1])
	if err != nil {
		return err
	}
	var data map[string]any
	if json.NewDecoder(t.In).Decode(&data) != nil {
		return errors.New("standard input holds no JSON object")
	}
	body := map[string]any{"data": data}
	if *cas >= 0 {
		body["options"] = map[string]int{"cas": *cas}
	}
	return t.Client.Do(ctx, "POST", at("data", path), body, nil)
}

func (t *Tool) kvList(ctx context.Context, args []string) error {
	path, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Keys []string `json:"keys"`
		} `json:"data"`
	}
	if err := t.Client.Do(ctx, "LIST", at("metadata", path), nil, &answer); err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Out, strings.Join(answer.Data.Keys, "\n"))
	return err
}

func (t *Tool) kvDelete(ctx context.Context, args []string) error {
	path, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "DELETE", at("data", path), nil, nil)
}

func (t *Tool) metadataGet(ctx context.Context, args []string) error {
	path, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	var answer struct {
		Data any `json:"data"`
	}
	if err := t.Client.Do(ctx, "GET", at("metadata", path), nil, &answer); err != nil {
		return err
	}
	return t.print(answer.Data)
}

func (t *Tool) metadataPut(ctx context.Context, args []string) error {
	flags := newFlags()
	pair := flags.String("custom-metadata", "", "")
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	key, value, ok := strings.Cut(*pair, "=")
	if !ok {
		return errUsage
	}
	body := map[string]any{"custom_metadata": map[string]string{key: value}}
	return t.Client.Do(ctx, "POST", at("metadata", path), body, nil)
}

func (t *Tool) metadataDelete(ctx context.Context, args []string) error {
	path, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "DELETE", at("metadata", path), nil, nil)
}
