package command

import (
	"context"
	"strconv"
	"strings"
)

// at returns the path of a request of some kind for a secret, whose path starts
// with its mount unless the options name the mount.
func (f flagSet) at(kind, path string) string {
	if *f.mount != "" {
		return strings.Trim(*f.mount, "/") + "/" + kind + "/" + path
	}
	mount, rest, _ := strings.Cut(path, "/")
	return mount + "/" + kind + "/" + rest
}

// kvGet implements "bao kv get".
func (t *Tool) kvGet(ctx context.Context, args []string) error {
	flags := newFlags()
	field := flags.String("field", "", "")
	version := flags.Int("version", 0, "")
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
	request := flags.at("data", path)
	if *version > 0 {
		request += "?version=" + strconv.Itoa(*version)
	}
	if err := t.Client.Do(ctx, "GET", request, nil, &answer); err != nil {
		return err
	}
	switch {
	case *field != "":
		return t.printField(answer.Data.Data, path, *field)
	case flags.json():
		return t.print(answer)
	}
	return t.print(answer.Data)
}

// kvPut implements "bao kv put".
func (t *Tool) kvPut(ctx context.Context, args []string) error {
	flags := newFlags()
	cas := flags.Int("cas", -1, "")
	path, rest, err := parseMore(flags, args)
	if err != nil {
		return err
	}
	data, err := t.data(rest)
	if err != nil {
		return err
	}
	body := map[string]any{"data": data}
	if *cas >= 0 {
		body["options"] = map[string]int{"cas": *cas}
	}
	return t.Client.Do(ctx, "POST", flags.at("data", path), body, nil)
}

// kvList implements "bao kv list".
func (t *Tool) kvList(ctx context.Context, args []string) error {
	flags := newFlags()
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	return t.names(ctx, flags.at("metadata", path))
}

// kvDelete implements "bao kv delete".
func (t *Tool) kvDelete(ctx context.Context, args []string) error {
	flags := newFlags()
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "DELETE", flags.at("data", path), nil, nil)
}

// metadataGet implements "bao kv metadata get".
func (t *Tool) metadataGet(ctx context.Context, args []string) error {
	flags := newFlags()
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	var answer struct {
		Data any `json:"data"`
	}
	if err := t.Client.Do(ctx, "GET", flags.at("metadata", path), nil, &answer); err != nil {
		return err
	}
	if flags.json() {
		return t.print(answer)
	}
	return t.print(answer.Data)
}

// metadataPut implements "bao kv metadata put".
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
	return t.Client.Do(ctx, "POST", flags.at("metadata", path), body, nil)
}

// metadataDelete implements "bao kv metadata delete".
func (t *Tool) metadataDelete(ctx context.Context, args []string) error {
	flags := newFlags()
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "DELETE", flags.at("metadata", path), nil, nil)
}
