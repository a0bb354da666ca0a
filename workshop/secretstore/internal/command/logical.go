package command

import (
	"context"
	"fmt"
	"strings"
)

// read implements "bao read".
func (t *Tool) read(ctx context.Context, args []string) error {
	flags := newFlags()
	field := flags.String("field", "", "")
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	var answer map[string]any
	if err := t.Client.Do(ctx, "GET", path, nil, &answer); err != nil {
		return err
	}
	data, _ := answer["data"].(map[string]any)
	switch {
	case *field != "":
		return t.printField(data, path, *field)
	case flags.json():
		return t.print(answer)
	}
	return t.print(data)
}

// write implements "bao write". It needs no token for what works while the store is sealed.
func (t *Tool) write(ctx context.Context, args []string) error {
	path, rest, err := parseMore(newFlags(), args)
	if err != nil {
		return err
	}
	data, err := t.data(rest)
	if err != nil {
		return err
	}
	send := t.Client.Do
	if path == "sys/unseal" {
		send = t.Client.Open
	}
	return send(ctx, "PUT", path, data, nil)
}

// list implements "bao list".
func (t *Tool) list(ctx context.Context, args []string) error {
	path, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	return t.names(ctx, path)
}

// names lists the keys at a path, one per line.
func (t *Tool) names(ctx context.Context, path string) error {
	var answer struct {
		Data struct {
			Keys []string `json:"keys"`
		} `json:"data"`
	}
	if err := t.Client.Do(ctx, "LIST", path, nil, &answer); err != nil {
		return err
	}
	_, err := fmt.Fprintln(t.Out, strings.Join(answer.Data.Keys, "\n"))
	return err
}

// remove implements "bao delete".
func (t *Tool) remove(ctx context.Context, args []string) error {
	path, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "DELETE", path, nil, nil)
}
