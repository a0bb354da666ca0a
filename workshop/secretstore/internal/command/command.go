// Package command is the command line tool for the secret store, with the names,
// options and results of OpenBao's tool for the commands that both have.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	vault "github.com/hashicorp/vault/api"

	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

// Tool runs commands.
type Tool struct {
	client  *vault.Client
	keys    server.Keys
	in      io.Reader
	out     io.Writer
	options options
}

// options are those of all commands.
type options struct {
	format, mount, path, version, ttl, field, custom string
	shares, threshold, cas, status                   int
	delay                                            time.Duration
	force                                            bool
}

var (
	// ErrSealed is returned by "status" for a sealed store.
	ErrSealed = errors.New("the store is sealed")
	// ErrNotFound reports that there is nothing at a path.
	ErrNotFound = errors.New("the store answered 404")
)

// New returns a tool for the server that the variables of OpenBao's own tool name. It works as the
// administrator unless they name another token: whoever can read the keys is the administrator.
func New(keys server.Keys, in io.Reader, out io.Writer) (*Tool, error) {
	config := vault.DefaultConfig()
	if config.Error != nil {
		return nil, config.Error
	}
	config.Address = os.Getenv("BAO_ADDR")
	config.MaxRetries = 0
	client, err := vault.NewClient(config)
	if err != nil {
		return nil, err
	}
	client.SetToken(cmp.Or(os.Getenv("BAO_TOKEN"), keys.RootToken))
	return &Tool{client: client, keys: keys, in: in, out: out}, nil
}

// Usage lists the commands.
const Usage = `bao talks to the stand-in for OpenBao.

  status                                     whether it is sealed (exit code 2)
  operator init [-key-shares=N] [-key-threshold=N]
  operator seal
  operator unseal [KEY]                      without a key: with those of this pod
  secrets list
  secrets enable [-path=PATH] [-version=2] [-max-lease-ttl=T] TYPE
  auth list
  auth enable [-path=PATH] TYPE
  policy read NAME
  policy write NAME -                        the policy on standard input
  read [-field=NAME] PATH
  write [-field=NAME] PATH DATA...           or -force without data

  kv get [-field=NAME] [-version=N] PATH     the data at a path such as kv-v2/a/b
  kv put [-cas=N] PATH DATA...
  kv list PATH                               the names below a path
  kv metadata get PATH
  kv metadata put -custom-metadata=K=V PATH
  kv metadata delete PATH

DATA is KEY=VALUE, KEY=@FILE, KEY=- for standard input, or - alone for a JSON
object on standard input. With -mount=kv-v2 the path of a kv command is
relative to the mount. -format=json prints the whole response.

Commands that OpenBao does not have:

  stand-in empty PREFIX                      delete everything below PREFIX
  stand-in fault [-delay=D] [-status=N] PREFIX
                                             make requests below PREFIX slow,
                                             or fail; without options they
                                             work again
`

// command is what follows the words of its name: how many arguments, and what to do.
type command struct {
	least, most int
	run         func(*Tool, context.Context, []string) error
}

// many is more than a command line has.
const many = 1 << 20

var commands = map[string]command{
	"status":             {0, 0, (*Tool).status},
	"operator init":      {0, 0, (*Tool).operatorInit},
	"operator seal":      {0, 0, (*Tool).operatorSeal},
	"operator unseal":    {0, 1, (*Tool).operatorUnseal},
	"secrets list":       {0, 0, (*Tool).secretsList},
	"secrets enable":     {1, 1, (*Tool).secretsEnable},
	"auth list":          {0, 0, (*Tool).authList},
	"auth enable":        {1, 1, (*Tool).authEnable},
	"policy read":        {1, 1, (*Tool).policyRead},
	"policy write":       {2, 2, (*Tool).policyWrite},
	"read":               {1, 1, (*Tool).read},
	"write":              {1, many, (*Tool).write},
	"kv get":             {1, 1, (*Tool).kvGet},
	"kv put":             {2, many, (*Tool).kvPut},
	"kv list":            {1, 1, (*Tool).kvList},
	"kv metadata get":    {1, 1, (*Tool).metadataGet},
	"kv metadata put":    {1, 1, (*Tool).metadataPut},
	"kv metadata delete": {1, 1, (*Tool).metadataDelete},
	"stand-in empty":     {1, 1, (*Tool).empty},
	"stand-in fault":     {1, 1, (*Tool).fault},
}

// Run runs the command named by the arguments.
func (t *Tool) Run(ctx context.Context, args []string) error {
	for words := range len(args) {
		c, found := commands[strings.Join(args[:words+1], " ")]
		if !found {
			continue
		}
		flags := t.flags()
		if err := flags.Parse(args[words+1:]); err != nil {
			return fmt.Errorf("%w\n\n%s", err, Usage)
		}
		if flags.NArg() < c.least || flags.NArg() > c.most {
			break
		}
		return c.run(t, ctx, flags.Args())
	}
	return errors.New("unknown command or wrong arguments\n\n" + strings.TrimSpace(Usage))
}

// flags returns the flags that set the options.
func (t *Tool) flags() *flag.FlagSet {
	flags, o := flag.NewFlagSet("bao", flag.ContinueOnError), &t.options
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.format, "format", "", "")
	flags.StringVar(&o.mount, "mount", "", "")
	flags.StringVar(&o.path, "path", "", "")
	flags.StringVar(&o.version, "version", "", "")
	flags.StringVar(&o.ttl, "max-lease-ttl", "", "")
	flags.StringVar(&o.field, "field", "", "")
	flags.StringVar(&o.custom, "custom-metadata", "", "")
	flags.IntVar(&o.shares, "key-shares", 5, "")
	flags.IntVar(&o.threshold, "key-threshold", 3, "")
	flags.IntVar(&o.cas, "cas", -1, "")
	flags.IntVar(&o.status, "status", 0, "")
	flags.BoolVar(&o.force, "force", false, "")
	flags.DurationVar(&o.delay, "delay", 0, "")
	return flags
}

func (t *Tool) print(v any) error {
	encoder := json.NewEncoder(t.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
