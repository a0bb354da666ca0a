// Package command is the command line tool for the secret store, with the names,
// options and results of OpenBao's tool for the commands that both have.
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
  operator init [-key-shares=N] [-key-threshold=N]
  operator seal
  operator unseal [KEY]                      without a key: with those of this pod
  secrets list
  secrets enable [-path=PATH] [-version=2] [-max-lease-ttl=T] TYPE
  secrets tune [-max-lease-ttl=T] PATH
  auth list
  auth enable [-path=PATH] TYPE
  policy list
  policy read NAME
  policy write NAME FILE                     - is standard input
  policy delete NAME
  read [-field=NAME] PATH
  write PATH DATA...
  list PATH
  delete PATH

  kv get [-field=NAME] [-version=N] PATH     the data at a path such as kv-v2/a/b
  kv put [-cas=N] PATH DATA...
  kv list PATH                               the names below a path
  kv delete PATH                             delete the current version
  kv metadata get PATH
  kv metadata put -custom-metadata=K=V PATH
  kv metadata delete PATH                    delete all versions

DATA is KEY=VALUE, KEY=@FILE, KEY=- for standard input, or - alone for a JSON
object on standard input. With -mount=kv-v2 the path of a kv command is
relative to the mount. -format=json prints the whole response.

Commands that OpenBao does not have:

  stand-in empty [PREFIX]                    delete everything below PREFIX
  stand-in fault [-delay=D] [-status=N] PREFIX
                                             make requests below PREFIX slow,
                                             or fail; without options they
                                             work again
`

// ErrSealed is returned by "status" for a sealed store.
var ErrSealed = errors.New("the store is sealed")

// errUsage reports that the command line names no command.
var errUsage = errors.New("unknown command or wrong arguments\n\n" + strings.TrimSpace(Usage))

// Tool runs commands.
type Tool struct {
	Client *client.Client
	// Keys returns the keys that unseal the store.
	Keys func() (server.Keys, error)
	In   io.Reader
	Out  io.Writer
}

// Run runs the command named by the arguments.
func (t *Tool) Run(ctx context.Context, args []string) error {
	commands := []struct {
		name string
		run  func(context.Context, []string) error
	}{
		{"status", t.status},
		{"operator init", t.operatorInit},
		{"operator seal", t.operatorSeal},
		{"operator unseal", t.operatorUnseal},
		{"secrets list", t.listed("sys/mounts")},
		{"secrets enable", t.secretsEnable},
		{"secrets tune", t.secretsTune},
		{"auth list", t.listed("sys/auth")},
		{"auth enable", t.authEnable},
		{"policy list", t.policyList},
		{"policy read", t.policyRead},
		{"policy write", t.policyWrite},
		{"policy delete", t.policyDelete},
		{"read", t.read},
		{"write", t.write},
		{"list", t.list},
		{"delete", t.remove},
		{"kv get", t.kvGet},
		{"kv put", t.kvPut},
		{"kv list", t.kvList},
		{"kv delete", t.kvDelete},
		{"kv metadata get", t.metadataGet},
		{"kv metadata put", t.metadataPut},
		{"kv metadata delete", t.metadataDelete},
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

// empty implements "bao stand-in empty": it deletes all secrets below a prefix.
func (t *Tool) empty(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return errUsage
	}
	return t.Client.Do(ctx, "PUT", "sys/stand-in/empty", map[string]string{"prefix": strings.Join(args, "")}, nil)
}

// fault implements "bao stand-in fault": requests below a prefix are delayed or fail.
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

// flagSet holds the common options and those of one command.
type flagSet struct {
	*flag.FlagSet

	format *string
	mount  *string
}

func newFlags() flagSet {
	flags := flag.NewFlagSet("bao", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flagSet{flags, flags.String("format", "", ""), flags.String("mount", "", "")}
}

func (f flagSet) json() bool { return *f.format == "json" }

// parse parses options and returns the one argument after them.
func parse(flags flagSet, args []string) (string, error) {
	first, rest, err := parseMore(flags, args)
	if err == nil && len(rest) > 0 {
		err = errUsage
	}
	return first, err
}

// parseMore returns the first argument after the options, and the rest.
func parseMore(flags flagSet, args []string) (first string, rest []string, err error) {
	if err := flags.Parse(args); err != nil {
		return "", nil, fmt.Errorf("%w\n\n%s", err, Usage)
	}
	if flags.NArg() == 0 {
		return "", nil, errUsage
	}
	return strings.Trim(flags.Arg(0), "/"), flags.Args()[1:], nil
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
