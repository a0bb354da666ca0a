// Package command is the command line tool for the secret store, with the names
// of OpenBao's own for what that can do as well.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/c5c3/forge/hack/secretstore/internal/client"
	"github.com/c5c3/forge/hack/secretstore/internal/server"
)

// Usage lists the commands.
const Usage = `bao talks to the stand-in for OpenBao.

  status                                     whether it is sealed (exit code 2)
  kv get [-field=NAME] PATH                  the data at a path such as kv-v2/a/b
  kv put [-cas=N] PATH -                     write the JSON object on standard input
  kv list PATH                               the names below a path
  kv delete PATH                             delete the current version
  kv metadata get PATH
  kv metadata put -custom-metadata=K=V PATH
  kv metadata delete PATH                    delete all versions
  operator seal
  operator unseal                            with the keys of this pod

What no OpenBao has:

  stand-in empty [PREFIX]                    delete all that is below PREFIX
  stand-in fault [-delay=D] [-status=N] PREFIX
                                             make requests for what is below
                                             PREFIX slow, or fail; without
                                             options they work again
`

// ErrSealed is returned by "status" for a sealed store.
var ErrSealed = errors.New("the store is sealed")

// errUsage says that the command line names no command.
var errUsage = errors.New("unknown command or wrong arguments\n\n" + strings.TrimSpace(Usage))

// Tool runs commands.
type Tool struct {
	Client *client.Client
	// Keys returns the keys that unseal the store.
	Keys func() (server.Keys, error)
	In   io.Reader
	Out  io.Writer
}

// Run runs the command that the arguments name.
func (t *Tool) Run(ctx context.Context, args []string) error {
	commands := []struct {
		name string
		run  func(context.Context, []string) error
	}{
		{"status", t.status},
		{"kv get", t.kvGet},
		{"kv put", t.kvPut},
		{"kv list", t.kvList},
		{"kv delete", t.kvDelete},
		{"kv metadata get", t.metadataGet},
		{"kv metadata put", t.metadataPut},
		{"kv metadata delete", t.metadataDelete},
		{"operator seal", t.operatorSeal},
		{"operator unseal", t.operatorUnseal},
		{"stand-in empty", t.empty},
		{"stand-in fault", t.fault},
	}
	for _, c := range commands {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == c.name {
			return c.run(ctx, args[len(words):])
		}
	}
	return errUsage
}

func (t *Tool) status(ctx context.Context, _ []string) error {
	var status struct {
		Sealed   bool `json:"sealed"`
		Progress int  `json:"progress"`
	}
	if err := t.Client.Do(ctx, "GET", "sys/seal-status", nil, &status); err != nil {
		return err
	}
	if err := t.print(status); err != nil {
		return err
	}
	if status.Sealed {
		return ErrSealed
	}
	return nil
}

func (t *Tool) operatorSeal(ctx context.Context, _ []string) error {
	return t.Client.Do(ctx, "PUT", "sys/seal", nil, nil)
}

func (t *Tool) operatorUnseal(ctx context.Context, _ []string) error {
	keys, err := t.Keys()
	if err != nil {
		return err
	}
	for _, key := range keys.UnsealKeys[:keys.Threshold] {
		if err := t.Client.Do(ctx, "PUT", "sys/unseal", map[string]string{"key": key}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tool) empty(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return errUsage
	}
	return t.Client.Do(ctx, "PUT", "sys/stand-in/empty", map[string]string{"prefix": strings.Join(args, "")}, nil)
}

func (t *Tool) fault(ctx context.Context, args []string) error {
	flags := newFlags()
	delay := flags.Duration("delay", 0, "")
	status := flags.Int("status", 0, "")
	prefix, err := parse(flags, args)
	if err != nil {
		return err
	}
	body := map[string]any{"prefix": prefix, "delay": delay.String(), "status": *status}
	return t.Client.Do(ctx, "PUT", "sys/stand-in/fault", body, nil)
}

func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("bao", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// parse parses options and returns the one argument after them.
func parse(flags *flag.FlagSet, args []string) (string, error) {
	if err := flags.Parse(args); err != nil {
		return "", fmt.Errorf("%w\n\n%s", err, Usage)
	}
	if flags.NArg() != 1 {
		return "", errUsage
	}
	return flags.Arg(0), nil
}

func (t *Tool) print(v any) error {
	encoder := json.NewEncoder(t.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
